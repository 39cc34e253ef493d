import { useQuery, useQueryClient } from "@tanstack/react-query";
import { ChevronDown, RefreshCw, Trash2 } from "lucide-react";
import { useState } from "react";
import type { Schemas } from "@/api/client";
import { type App, useLack, useOff } from "@/lib/application";
import { waiting } from "@/lib/command";
import { plural } from "@/lib/format";
import { useCommands } from "@/lib/palette";
import { Button } from "@/ui/button";
import { Confirm } from "@/ui/confirm";
import { Checkbox, Field, Input } from "@/ui/field";
import { Menu } from "@/ui/menu";
import { toast, toastError } from "@/ui/toast";
import type { Forest, Node } from "./model";
import { actionsQuery, deleteObject, refFrom, runAction, syncObject } from "./object-query";

type Action = Schemas["ResourceActionInfo"];

interface Props {
  app: App;
  node: Node;
  tree: Forest;
  onGone: () => void;
}

// below counts what an object owns, at any depth.
export function below(tree: Forest, id: string): number {
  let n = 0;
  const stack = [id];
  for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
    for (const child of tree.children.get(at) ?? []) {
      n++;
      stack.push(child.id);
    }
  }
  return n;
}

const nameOf = (action: Action): string =>
  action.displayName || action.name.charAt(0).toUpperCase() + action.name.slice(1);

// Actions are what can be done with one object: its own actions, a sync of it alone, and its end.
export function Actions({ app, node, tree, onGone }: Props) {
  const noAction = useOff(app, "application_resourceaction", "resource.action");
  const noSync = useOff(app, "application_sync");
  const noSyncOf =
    noSync ??
    (node.requiresPruning ? "A sync would delete it. Use Delete, or sync the application with prune." : undefined);
  const noEdit = useOff(app, "application_edit", "resource.delete");
  const [chosen, setChosen] = useState<Action>();
  const [deleting, setDeleting] = useState(false);
  const [syncing, setSyncing] = useState(false);
  const queries = useQueryClient();
  const ref = refFrom(node);
  const actions = useQuery({ ...actionsQuery(app, ref), enabled: useLack(app)("resource.actions") === undefined });
  const again = () => void queries.invalidateQueries({ queryKey: ["object"] });
  const sync = async () => {
    setSyncing(true);
    try {
      const command = await syncObject(app, ref, Boolean(node.requiresPruning));
      toast(`Sync of ${node.kind} ${node.name} ${waiting(command) ? "begins when its agent answers" : "has begun"}`);
      again();
    } catch (error) {
      toastError(error, `Sync of ${node.name}`);
    } finally {
      setSyncing(false);
    }
  };
  const items = (actions.data?.actions ?? []).map((action) => ({
    label: nameOf(action),
    why: noAction ?? (action.disabled ? "The action is not available now." : undefined),
    run: () => setChosen(action),
  }));
  const group = `${node.kind} ${node.name}`;
  useCommands([
    ...items.map((i) => ({
      id: `object.${i.label}`,
      title: `${i.label}: ${group}`,
      group,
      disabled: i.why,
      run: i.run,
    })),
    ...(node.sync
      ? [{ id: "object.sync", title: `Sync ${group} alone`, group, disabled: noSyncOf, run: () => void sync() }]
      : []),
    { id: "object.delete", title: `Delete ${group}`, group, disabled: noEdit, run: () => setDeleting(true) },
  ]);
  return (
    <div className="flex flex-wrap gap-2 pb-2">
      {items.length > 0 && (
        <Menu
          trigger={
            <Button small>
              Actions
              <ChevronDown size={13} aria-hidden />
            </Button>
          }
          items={items}
        />
      )}
      {node.sync && (
        <Button small busy={syncing} why={noSyncOf} onClick={() => void sync()}>
          <RefreshCw size={13} aria-hidden />
          Sync this
        </Button>
      )}
      <Button small why={noEdit} onClick={() => setDeleting(true)} className="text-bad">
        <Trash2 size={13} aria-hidden />
        Delete
      </Button>
      {chosen && (
        <RunAction app={app} node={node} action={chosen} onClose={() => setChosen(undefined)} onDone={again} />
      )}
      {deleting && (
        <DeleteObject app={app} node={node} tree={tree} onClose={() => setDeleting(false)} onGone={onGone} />
      )}
    </div>
  );
}

function RunAction({
  app,
  node,
  action,
  onClose,
  onDone,
}: {
  app: App;
  node: Node;
  action: Action;
  onClose: () => void;
  onDone: () => void;
}) {
  const parameters = action.parameters ?? [];
  const [values, setValues] = useState<Record<string, string>>(() =>
    Object.fromEntries(parameters.map((p) => [p.name, p.default ?? ""])),
  );
  const run = async () => {
    const command = await runAction(app, {
      resource: refFrom(node),
      action: action.name,
      ...(parameters.length > 0 ? { parameters: values } : {}),
    });
    toast(`${nameOf(action)}: ${waiting(command) ? "it is done when the agent answers" : `done with ${node.name}`}`);
    onDone();
  };
  return (
    <Confirm
      open
      onClose={onClose}
      title={`${nameOf(action)}: ${node.kind} ${node.name}`}
      action={nameOf(action)}
      danger={false}
      onConfirm={run}
    >
      <p>
        This runs the action <b className="font-medium">{action.name}</b> of {node.kind} {node.name}
        {node.namespace && ` in namespace ${node.namespace}`} in the cluster now.
      </p>
      {parameters.map((p) => (
        <Field key={p.name} label={p.name}>
          <Input
            value={values[p.name] ?? ""}
            onChange={(event) => setValues({ ...values, [p.name]: event.target.value })}
            autoComplete="off"
          />
        </Field>
      ))}
    </Confirm>
  );
}

function DeleteObject({ app, node, tree, onClose, onGone }: Props & { onClose: () => void }) {
  const [force, setForce] = useState(false);
  const [orphan, setOrphan] = useState(false);
  const [reason, setReason] = useState("");
  const owned = below(tree, node.id);
  const run = async () => {
    const command = await deleteObject(app, refFrom(node), { force, orphan, reason });
    toast(`${node.kind} ${node.name} ${waiting(command) ? "is deleted when the agent answers" : "is being deleted"}`);
    onGone();
  };
  return (
    <Confirm
      open
      onClose={onClose}
      title={`Delete ${node.kind} ${node.name}?`}
      action={`Delete ${node.name}`}
      typed={
        ["Namespace", "PersistentVolumeClaim", "PersistentVolume", "CustomResourceDefinition"].includes(node.kind)
          ? node.name
          : undefined
      }
      onConfirm={run}
    >
      <p>
        This deletes {node.kind} {node.name}
        {node.namespace && ` in namespace ${node.namespace}`} from the cluster
        {owned > 0 && !orphan && `, with ${plural(owned, "object")} that it owns`}.
        {node.kind === "Namespace" && " Everything in the namespace is deleted with it."}
        {node.kind === "CustomResourceDefinition" && " All objects of this kind are deleted with it."}
        {node.kind === "PersistentVolumeClaim" && " Its data may be lost."}
      </p>
      <p>
        {node.sync && !node.requiresPruning
          ? "It is still in the application's source: the next sync, or self-healing, creates it again."
          : node.parent
            ? "Its owner may create another one in its place."
            : "It is not recreated automatically."}
      </p>
      <Checkbox
        label="Orphan"
        hint={`Leave its objects in the cluster${owned > 0 ? ` (${plural(owned, "object")})` : ""}.`}
        checked={orphan}
        onChange={(event) => setOrphan(event.target.checked)}
      />
      <Checkbox
        label="Force"
        hint="Do not wait for its end. Processes of a pod may run on for a while."
        checked={force}
        onChange={(event) => setForce(event.target.checked)}
      />
      <Field label="Reason" hint="For the audit log. Optional.">
        <Input value={reason} maxLength={1000} onChange={(event) => setReason(event.target.value)} />
      </Field>
    </Confirm>
  );
}
