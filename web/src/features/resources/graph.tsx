import {
  type Edge,
  MiniMap,
  type Node as FlowNode,
  Position,
  ReactFlow,
  type ReactFlowInstance,
  ReactFlowProvider,
  useReactFlow,
} from "@xyflow/react";
import "@xyflow/react/dist/base.css";
import { type KeyboardEvent, useCallback, useMemo, useRef, useState } from "react";
import { type Tone, toneOf } from "@/ui/status";
import { type GraphData, GraphNode, nodeLabel, RootNode } from "./graph-node";
import { type Layout, type Placed, rootId, size, step } from "./layout";
import type { Network } from "./network";
import { edgeTypes, edgeOf, branches } from "./graph-edges";
import { Zoom } from "./graph-zoom";

interface Props {
  layout: Layout | Network;
  // root is the application that the tree hangs at; without it there is none, as in the network.
  root?: { name: string; health: string; sync: string };
  label: string;
  dim: ReadonlySet<string>;
  // chosen is the id of what is open beside the graph.
  chosen: string;
  onOpen: (id: string) => void;
  onFold: (id: string, open: boolean) => void;
}

type Flow = FlowNode<GraphData>;

const types = { item: GraphNode, root: RootNode };

// The overview draws a box for each item, which more of them make slow.
const mapped = 1_000;

const handle = { width: 1, height: 1, y: size.height / 2 };

const handles = [
  { ...handle, type: "target" as const, position: Position.Left, x: 0 },
  { ...handle, type: "source" as const, position: Position.Right, x: size.width },
];

const fills: Record<Tone, string> = {
  ok: "var(--ok)",
  busy: "var(--busy)",
  warn: "var(--warn)",
  bad: "var(--bad)",
  idle: "var(--strong)",
  held: "var(--held)",
};

const boxOf = (id: string, x: number, y: number, data: GraphData): Flow => ({
  id,
  type: id === rootId ? "root" : "item",
  position: { x, y },
  width: size.width,
  height: size.height,
  measured: { width: size.width, height: size.height },
  handles,
  ariaRole: "group",
  data,
});

// useBoxes makes the renderer's nodes of a layout. One that did not change stays the same object, and is not drawn again.
function useBoxes({ layout, root, dim, chosen }: Props, active: string): Flow[] {
  const before = useRef(new Map<string, { key: unknown[]; box: Flow }>());
  return useMemo(() => {
    const now = new Map<string, { key: unknown[]; box: Flow }>();
    const add = (id: string, x: number, y: number, key: unknown[], data: () => GraphData) => {
      const all = [x, y, ...key];
      const known = before.current.get(id);
      const same = known && known.key.length === all.length && known.key.every((k, i) => k === all[i]);
      now.set(id, same ? known : { key: all, box: boxOf(id, x, y, data()) });
    };
    if (root) {
      const on = active === rootId;
      add(rootId, layout.root.x, layout.root.y, [root.name, root.health, root.sync, on], () => ({
        root,
        active: on,
        dim: false,
        chosen: false,
      }));
    }
    for (const item of layout.items) {
      const state = { dim: dim.has(item.id), chosen: item.id === chosen, active: item.id === active };
      const shown = item.node ? [item.node] : [item.fold.count, item.fold.open, item.fold.health.join()];
      add(item.id, item.x, item.y, [...shown, state.dim, state.chosen, state.active], () => ({ item, ...state }));
    }
    before.current = now;
    return [...now.values()].map((n) => n.box);
  }, [layout, root, dim, chosen, active]);
}

function useEdges({ layout }: Props): Edge[] {
  return useMemo(
    () => ("links" in layout ? layout.links.map((l) => edgeOf(l.from, l.to, "smoothstep")) : branches(layout.items)),
    [layout],
  );
}

function Graph(props: Props) {
  const { layout, root, label, onOpen, onFold } = props;
  const flow = useReactFlow<Flow>();
  const host = useRef<HTMLDivElement>(null);
  const [focused, setFocused] = useState(false);
  const first = root ? rootId : (layout.items[0]?.id ?? "");
  const [at, setAt] = useState(first);
  const byId = useMemo(() => new Map(layout.items.map((i) => [i.id, i])), [layout]);
  const active = byId.has(at) || (root && at === rootId) ? at : first;
  const boxes = useBoxes(props, focused ? active : "");
  const edges = useEdges(props);

  const show = useCallback(
    (instance: Pick<ReactFlowInstance, "setViewport">) => {
      if (!host.current) {
        return; // React Flow is ready a moment later, and the user has moved on in the meantime
      }
      const { clientWidth, clientHeight } = host.current;
      const fits = Math.min(clientWidth / (layout.width + 60), clientHeight / (layout.height + 60));
      if (fits >= 0.55) {
        void instance.setViewport({
          zoom: Math.min(1, fits),
          x: Math.max(24, (clientWidth - layout.width * Math.min(1, fits)) / 2),
          y: Math.max(24, (clientHeight - layout.height * Math.min(1, fits)) / 2),
        });
        return;
      }
      // More than can be read together: begin where the tree begins.
      const zoom = clientWidth < 600 ? 0.7 : 0.85;
      void instance.setViewport({ zoom, x: 24, y: Math.min(24, clientHeight / 2 - layout.root.y * zoom) });
    },
    [layout],
  );

  const reveal = (item: { x: number; y: number }) => {
    const { clientWidth, clientHeight } = host.current as HTMLDivElement;
    const { x, y, zoom } = flow.getViewport();
    const left = item.x * zoom + x;
    const top = item.y * zoom + y;
    const inside =
      left >= 0 && top >= 0 && left + size.width * zoom <= clientWidth && top + size.height * zoom <= clientHeight;
    if (!inside) {
      void flow.setCenter(item.x + size.width / 2, item.y + size.height / 2, { zoom });
    }
  };

  const open = (item: Placed | undefined) => {
    if (item?.fold) {
      onFold(item.id, !item.fold.open);
    } else if (item) {
      onOpen(item.id);
    }
  };

  const press = (event: KeyboardEvent) => {
    if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      open(byId.get(active));
    } else if (event.key === "+" || event.key === "-") {
      void (event.key === "+" ? flow.zoomIn() : flow.zoomOut());
    } else if (event.key === "0") {
      void flow.fitView({ padding: 0.1 });
    } else if (event.key.startsWith("Arrow") || event.key === "Home") {
      event.preventDefault();
      const to = step(layout, active, event.key);
      const place = to === rootId && root ? layout.root : byId.get(to ?? "");
      if (to && place) {
        setAt(to);
        reveal(place);
      }
    }
  };

  const item = byId.get(active);
  return (
    <div
      ref={host}
      role="application"
      tabIndex={0}
      aria-label={`${label}. Arrow keys move, Enter opens. The list view has the same.`}
      aria-describedby="graph-active"
      onFocus={(event) => setFocused(event.target === event.currentTarget)}
      onBlur={() => setFocused(false)}
      onKeyDown={press}
      className="h-full min-h-0 w-full"
    >
      <p id="graph-active" aria-live="polite" className="sr-only">
        {focused && (item ? nodeLabel(item) : root?.name)}
      </p>
      <ReactFlow<Flow>
        nodes={boxes}
        edges={edges}
        nodeTypes={types}
        edgeTypes={edgeTypes}
        onInit={show}
        onNodeClick={(_, node) => {
          setAt(node.id);
          open(byId.get(node.id));
        }}
        onlyRenderVisibleElements
        nodesDraggable={false}
        nodesConnectable={false}
        nodesFocusable={false}
        edgesFocusable={false}
        elementsSelectable={false}
        disableKeyboardA11y
        deleteKeyCode={null}
        selectionKeyCode={null}
        multiSelectionKeyCode={null}
        panOnScroll
        className="[&_.react-flow\_\_attribution]:bg-transparent! [&_.react-flow\_\_attribution_a]:text-muted!"
        zoomOnDoubleClick={false}
        minZoom={0.15}
        maxZoom={1.5}
      >
        <Zoom />
        {layout.items.length > 40 && layout.items.length <= mapped && (
          <MiniMap<Flow>
            pannable
            zoomable
            ariaLabel="Overview of the graph"
            nodeColor={(n) => fills[toneOf(worst(n.data))]}
            maskColor="color-mix(in srgb, var(--ground) 70%, transparent)"
            bgColor="var(--surface)"
            className="hidden rounded-md border sm:block"
          />
        )}
      </ReactFlow>
    </div>
  );
}

const worst = (data: GraphData): string =>
  data.root?.health ?? data.item?.node?.health ?? data.item?.fold?.health[0]?.[0] ?? "";

// ResourceGraph draws a layout, which can be walked by keys, moved and zoomed. Only what is in sight is on the page.
export default function ResourceGraph(props: Props) {
  return (
    <ReactFlowProvider>
      <Graph {...props} />
    </ReactFlowProvider>
  );
}
