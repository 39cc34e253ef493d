import { Panel, useReactFlow } from "@xyflow/react";
import "@xyflow/react/dist/base.css";
import { Maximize, Minus, Plus } from "lucide-react";
import { IconButton } from "@/ui/button";

export function Zoom() {
  const flow = useReactFlow();
  return (
    <Panel position="bottom-left" className="m-2! flex rounded-md border bg-raised shadow">
      <IconButton small label="Zoom in" onClick={() => void flow.zoomIn()}>
        <Plus size={14} aria-hidden />
      </IconButton>
      <IconButton small label="Zoom out" onClick={() => void flow.zoomOut()}>
        <Minus size={14} aria-hidden />
      </IconButton>
      <IconButton small label="Show everything" onClick={() => void flow.fitView({ padding: 0.1 })}>
        <Maximize size={14} aria-hidden />
      </IconButton>
    </Panel>
  );
}
