import { useState } from "react";
import { update } from "@/lib/entity";
import { agents } from "@/lib/kinds";
import { queryClient } from "@/lib/query";
import { useMissing } from "@/lib/session";
import { Checkbox } from "@/ui/field";
import { FormDrawer } from "@/ui/form";
import { metaBody, MetaFields, useMeta } from "@/ui/meta";
import { toast } from "@/ui/toast";
import type { Agent } from "./data";

// EditAgent changes the description of an agent; its mode is set when it is installed.
export function EditAgent({ agent, onClose, onReload }: { agent: Agent; onClose: () => void; onReload: () => void }) {
  // What it began with stays, whatever the agent reports in the meantime.
  const [first] = useState(agent);
  const [meta, setMeta] = useMeta(first);
  const [autoCreate, setAutoCreate] = useState(Boolean(first.autoCreate));
  const missing = useMissing("agent_edit", agent.scope);
  const submit = async () => {
    const { status: _, uid: __, sealKey: ___, ...kept } = first;
    await update<Agent>(agents, first.id ?? "", { ...kept, ...metaBody(meta), autoCreate });
    toast(`Agent ${first.name} changed.`);
    void queryClient.invalidateQueries({ queryKey: ["agent"] });
    onClose();
  };
  return (
    <FormDrawer
      open
      onClose={onClose}
      title={`Edit ${first.name}`}
      description={first.id}
      action="Save"
      why={missing}
      submit={submit}
      onReload={onReload}
    >
      {(wrong) => (
        <>
          <MetaFields meta={meta} onChange={setMeta} there wrong={wrong} disabled={Boolean(missing)} />
          <Checkbox
            label="Create services and environments automatically"
            hint="For its applications without one, from their labels and names."
            checked={autoCreate}
            disabled={Boolean(missing)}
            onChange={(e) => setAutoCreate(e.target.checked)}
          />
        </>
      )}
    </FormDrawer>
  );
}
