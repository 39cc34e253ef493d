import { Handle, type NodeProps, Position } from "@xyflow/react";
import { ChevronDown, ChevronRight } from "lucide-react";
import { memo } from "react";
import { cn } from "@/lib/cn";
import { ago, known } from "@/lib/time";
import { KindTile } from "@/ui/kind-icon";
import { labelOf, StatusIcon, toneFill, toneOf } from "@/ui/status";
import { ChildLink } from "./child-link";
import { type Item, told } from "./group";
import { fact, type Node } from "./model";

export interface GraphData extends Record<string, unknown> {
  item?: Item;
  root?: { name: string; health: string; sync: string };
  dim: boolean;
  chosen: boolean;
  active: boolean;
}

// nodeLabel says an item in words, for those who hear it.
export function nodeLabel(item: Item): string {
  if (item.fold) {
    return `${told(item.fold)}, ${item.fold.open ? "unfolded" : "folded"}`;
  }
  const n = item.node;
  return [n.kind, n.name, n.health && labelOf(n.health), n.sync && labelOf(n.sync), fact(n)].filter(Boolean).join(", ");
}

const hint = (n: Node): string =>
  [
    `${n.kind} ${n.namespace ? `${n.namespace}/` : ""}${n.name}`,
    n.message,
    known(n.createdAt) ? `created ${ago(n.createdAt, Date.now())}` : "",
    n.pod?.node && `on ${n.pod.node}`,
  ]
    .filter(Boolean)
    .join("\n");

const box =
  "flex h-14 w-[252px] cursor-pointer items-center gap-2 rounded-md border bg-surface px-2 text-left shadow-xs";

const look = (data: GraphData, bad: boolean) =>
  cn(
    box,
    bad && "border-bad",
    data.dim && "opacity-50",
    data.chosen && "border-accent bg-accent-soft",
    data.active && "outline-2 outline-offset-2 outline-accent",
  );

// Ends are where lines begin and end: the renderer looks for them on the page.
const end = "pointer-events-none! size-px! min-h-0! min-w-0! border-0! opacity-0";
const Ends = () => (
  <>
    <Handle type="target" position={Position.Left} isConnectable={false} className={end} />
    <Handle type="source" position={Position.Right} isConnectable={false} className={end} />
  </>
);

const ending = 6; // letters of a generated name that distinguish it from its siblings

// Name keeps the end of a generated name in sight, where pods of one owner differ.
function Name({ text, generated }: { text: string; generated: boolean }) {
  const at = generated && text.length > 3 * ending ? text.length - ending : text.length;
  return (
    <span className="flex font-medium">
      <span className="truncate">{text.slice(0, at)}</span>
      {at < text.length && <span className="shrink-0">{text.slice(at)}</span>}
    </span>
  );
}

// States are the pictures of health and sync: what is healthy and synced has one, not two that look alike.
function States({ health, sync }: { health: string | undefined; sync: string | undefined }) {
  return (
    <span className="flex shrink-0 flex-col gap-1">
      {health && <StatusIcon status={health} />}
      {sync && (!health || sync !== "Synced") && <StatusIcon status={sync} />}
    </span>
  );
}

// GraphNode is one object, or what stands for many.
export const GraphNode = memo(function GraphNode({ data }: NodeProps & { data: GraphData }) {
  const item = data.item as Item;
  if (item.fold) {
    const f = item.fold;
    return (
      <div className={cn(look(data, false), "border-dashed")} title={told(f)} data-id={item.id}>
        <span className="shrink-0 text-muted">
          {f.open ? <ChevronDown size={16} aria-hidden /> : <ChevronRight size={16} aria-hidden />}
        </span>
        <span className="min-w-0 flex-1">
          <span className="line-clamp-2 font-medium">{told(f)}</span>
          <span aria-hidden className="mt-0.5 flex h-1 overflow-hidden rounded">
            {f.health.map(([health, n]) => (
              <span key={health} className={toneFill[toneOf(health)]} style={{ flexGrow: n }} />
            ))}
          </span>
        </span>
        {f.outOfSync > 0 && <StatusIcon status="OutOfSync" />}
        <Ends />
      </div>
    );
  }
  const n = item.node;
  return (
    <div className={look(data, n.health === "Degraded")} title={hint(n)} data-id={item.id}>
      <KindTile kind={n.kind} />
      <span className="min-w-0 flex-1">
        <Name text={n.name} generated={n.parent !== undefined} />
        <span className="block truncate text-xs text-muted">{[n.kind, fact(n)].filter(Boolean).join(" · ")}</span>
      </span>
      {n.kind === "Application" && <ChildLink node={n} small />}
      <States health={n.health} sync={n.sync} />
      <Ends />
    </div>
  );
});

// RootNode is the application that all hangs at.
export const RootNode = memo(function RootNode({ data }: NodeProps & { data: GraphData }) {
  const { root } = data;
  return (
    <div className={cn(look(data, false), "cursor-default border-accent")}>
      <KindTile kind="Application" accent />
      <span className="min-w-0 flex-1 truncate font-semibold">{root?.name}</span>
      <States health={root?.health} sync={root?.sync} />
      <Ends />
    </div>
  );
});
