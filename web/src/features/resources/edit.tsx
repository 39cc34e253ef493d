import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { parse, YAMLParseError } from "yaml";
import { type App, useOff } from "@/lib/application";
import { waiting } from "@/lib/command";
import { Button } from "@/ui/button";
import { Code } from "@/ui/code";
import { ErrorNote } from "@/ui/states";
import { toast } from "@/ui/toast";
import { type LiveObject, objectOf, yamlOf } from "./manifest";
import { mergePatch } from "./merge-patch";
import type { Node } from "./model";
import { patchObject, refFrom } from "./object-query";

// EditManifest changes an object in the cluster. Only what was changed is sent.
export function EditManifest({
  app,
  node,
  object,
  onDone,
}: {
  app: App;
  node: Node;
  object: LiveObject;
  onDone: () => void;
}) {
  const [before] = useState(object);
  const [text, setText] = useState(() => yamlOf(object));
  const [busy, setBusy] = useState("");
  const [error, setError] = useState<unknown>(null);
  const [wrong, setWrong] = useState<{ line: number; message: string }[]>([]);
  const queries = useQueryClient();

  const send = async (dryRun: boolean) => {
    setError(null);
    setWrong([]);
    let after: LiveObject | undefined;
    try {
      after = objectOf(parse(text));
    } catch (problem) {
      const at = problem instanceof YAMLParseError ? (problem.linePos?.[0].line ?? 1) : 1;
      setWrong([{ line: at, message: problem instanceof Error ? problem.message : String(problem) }]);
      return;
    }
    if (!after) {
      setWrong([{ line: 1, message: "Not an object. Enter one as YAML." }]);
      return;
    }
    // What is not shown is not to go.
    const patch = mergePatch(objectOf(parse(yamlOf(before))), after);
    if (patch === undefined) {
      onDone();
      return;
    }
    setBusy(dryRun ? "check" : "save");
    try {
      const command = await patchObject(app, refFrom(node), patch, dryRun);
      if (dryRun) {
        toast("The API server would accept it");
        return;
      }
      toast(waiting(command) ? `${node.name} will be changed when its agent answers` : `${node.name} was changed`);
      await queries.invalidateQueries({ queryKey: ["object"] });
      onDone();
    } catch (problem) {
      setError(problem);
    } finally {
      setBusy("");
    }
  };

  return (
    <div className="flex min-h-0 flex-1 flex-col gap-2">
      {node.sync && (
        <p className="rounded-md bg-warn-soft px-3 py-2 text-sm text-warn">
          This changes the cluster only, not Git: the object is then out of sync, and the next sync, or self-heal,
          reverts it.
        </p>
      )}
      <Code
        value={text}
        label="Manifest to change"
        onChange={setText}
        problems={wrong}
        className="h-auto min-h-60 flex-1"
      />
      {wrong.map((w) => (
        <p key={w.message} role="alert" className="text-sm text-bad">
          Line {w.line}: {w.message}
        </p>
      ))}
      {error != null && <ErrorNote error={error} />}
      <div className="flex flex-wrap justify-end gap-2">
        <Button onClick={onDone}>Cancel</Button>
        <Button busy={busy === "check"} onClick={() => void send(true)}>
          Check
        </Button>
        <Button look="primary" busy={busy === "save"} onClick={() => void send(false)}>
          Save to the cluster
        </Button>
      </div>
    </div>
  );
}

EditManifest.Button = function EditButton({ app, onEdit }: { app: App; onEdit: () => void }) {
  const missing = useOff(app, "application_edit", "resource.patch");
  return (
    <Button small why={missing} onClick={onEdit}>
      Edit
    </Button>
  );
};
