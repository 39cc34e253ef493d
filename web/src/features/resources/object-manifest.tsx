import type { UseQueryResult } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import type { Schemas } from "@/api/client";
import type { App } from "@/lib/application";
import { Code } from "@/ui/code";
import { Copy } from "@/ui/copy";
import { Checkbox } from "@/ui/field";
import { Empty, Loaded } from "@/ui/states";
import { EditManifest } from "./edit";
import { objectOf, yamlOf } from "./manifest";
import { type Node, notEdited } from "./model";

// ObjectManifest is an object as YAML: as it is in the cluster, or as its source says. Secrets are masked by the server.
export function ObjectManifest({
  state,
  which,
  app,
  node,
}: {
  state: UseQueryResult<Schemas["ResourceState"]>;
  which: "live" | "desired";
  app: App;
  node: Node;
}) {
  const [managed, setManaged] = useState(false);
  const [editing, setEditing] = useState(false);
  const object = objectOf(state.data?.[which]);
  const refused = which === "live" ? notEdited(node) : undefined;
  const text = useMemo(() => (object ? yamlOf(object, managed) : ""), [object, managed]);
  return (
    <Loaded query={state}>
      {() =>
        !object ? (
          <Empty title={which === "live" ? "It is not in the cluster" : "Not desired"}>
            {which === "live" ? "A sync creates it." : "The source of the application does not contain it."}
          </Empty>
        ) : editing ? (
          <EditManifest app={app} node={node} object={object} onDone={() => setEditing(false)} />
        ) : (
          <div className="flex min-h-0 flex-1 flex-col gap-2">
            <div className="flex flex-wrap items-center justify-between gap-2">
              {object.metadata?.managedFields === undefined ? (
                <span />
              ) : (
                <Checkbox
                  label="Managed fields"
                  checked={managed}
                  onChange={(event) => setManaged(event.target.checked)}
                />
              )}
              <span className="flex items-center gap-2">
                {which === "live" && !refused && <EditManifest.Button app={app} onEdit={() => setEditing(true)} />}
                <Copy text={text} label="Copy the manifest" />
              </span>
            </div>
            {refused && (
              <p role="note" className="rounded-md bg-idle-soft px-3 py-2 text-sm text-muted">
                {refused}
              </p>
            )}
            <Code
              value={text}
              label={which === "live" ? "Live manifest" : "Desired manifest"}
              className="h-auto min-h-60 flex-1"
            />
          </div>
        )
      }
    </Loaded>
  );
}
