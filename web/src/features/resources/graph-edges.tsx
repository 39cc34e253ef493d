import { type Edge, type EdgeProps } from "@xyflow/react";
import "@xyflow/react/dist/base.css";
import { type Placed, size } from "./layout";

const edgeLook = { stroke: "var(--strong)", strokeWidth: 1.25, opacity: 0.6 };

const hidden = { "aria-hidden": true } as Edge["domAttributes"];

// Branch leads from an owner to the first that it owns, and from each of these to the next, along one line beside them all.
// A line from the owner to each of thousands would have most of them cross what is in sight.
function Branch({ sourceX, sourceY, targetX, targetY, data }: EdgeProps) {
  const turn = targetX - size.gapX / 2;
  const from = data?.first ? `M${sourceX} ${sourceY}H${turn}` : `M${turn} ${sourceY}`;
  return <path d={`${from}V${targetY}H${targetX}`} className="react-flow__edge-path" style={edgeLook} />;
}

export const edgeTypes = { branch: Branch };

export const edgeOf = (from: string, to: string, type: "branch" | "smoothstep", first = false): Edge => ({
  id: `${from} ${to}`,
  source: from,
  target: to,
  type,
  data: { first },
  style: edgeLook,
  domAttributes: hidden,
});

// branches are the lines of a tree; items of one owner come in their order.
export function branches(items: readonly Placed[]): Edge[] {
  const last = new Map<string, string>();
  return items.map((item) => {
    const before = last.get(item.parent);
    last.set(item.parent, item.id);
    return edgeOf(before ?? item.parent, item.id, "branch", before === undefined);
  });
}
