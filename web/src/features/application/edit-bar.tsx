import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { stringify } from "yaml";
import { type App, lookKey } from "@/lib/application";
import { preview } from "@/lib/preview";
import { plural } from "@/lib/format";
import { Button } from "@/ui/button";
import { CodeDiff } from "@/ui/code";
import { Dialog } from "@/ui/dialog";
import { PreviewCard } from "@/ui/preview";
import { ErrorNote, Failed, Loading } from "@/ui/states";
import { toast } from "@/ui/toast";
import { Reason } from "./dialog-parts";
import { changed, EditConflict, editable, ordered, save, tried } from "./edit";
import { automated, type Resource } from "./resource";
import { useMay } from "./use";

// yamlOf is what people say in the resource, for reading and writing.
export function yamlOf(resource: Resource): string {
  const { metadata, ...rest } = editable(resource);
  const { name, namespace, labels, annotations, finalizers } = metadata;
  const said = Object.fromEntries(
    Object.entries({ name, namespace, labels, annotations, finalizers }).filter(([, v]) => v !== undefined),
  );
  return stringify({ apiVersion: rest.apiVersion, kind: rest.kind, metadata: said, spec: rest.spec }, { lineWidth: 0 });
}

// EditBar is below a form: it shows what was changed before that is written.
export function EditBar({
  app,
  draft,
  base,
  wrong,
  onReset,
}: {
  app: App;
  draft: Resource;
  base: Resource;
  // wrong says why the draft cannot be saved.
  wrong?: string | undefined;
  // onReset takes the draft back to what is there now.
  onReset: () => void;
}) {
  const may = useMay(app);
  const [open, setOpen] = useState(false);
  const dirty = changed(draft, base);
  if (!dirty && !wrong) {
    return null;
  }
  return (
    <div className="sticky bottom-0 z-10 flex flex-wrap items-center justify-end gap-2 border-t bg-ground py-3">
      <p className="mr-auto min-w-0 break-words text-muted" role="status">
        {wrong ?? "You have unsaved changes."}
      </p>
      <Button onClick={onReset}>Discard</Button>
      <Button look="primary" why={may.edit ?? wrong} onClick={() => setOpen(true)}>
        Review and save…
      </Button>
      {open && (
        <Review
          app={app}
          draft={draft}
          base={base}
          onReset={() => {
            setOpen(false);
            onReset();
          }}
          onClose={() => setOpen(false)}
        />
      )}
    </div>
  );
}

function Review({
  app,
  draft,
  base,
  onReset,
  onClose,
}: {
  app: App;
  draft: Resource;
  base: Resource;
  onReset: () => void;
  onClose: () => void;
}) {
  const [reason, setReason] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const run = async () => {
    setBusy(true);
    setError(null);
    try {
      await save(app, draft, base, reason.trim());
      toast(`${app.name} was changed`);
      onReset();
    } catch (problem) {
      setError(problem);
      setBusy(false);
    }
  };
  const conflict = error instanceof EditConflict;
  const body = tried(draft, base);
  const would = useQuery({
    queryKey: lookKey(app, "preview", ordered(body)),
    staleTime: 0,
    gcTime: 0,
    retry: false,
    queryFn: () => preview(app.agent, body),
  });
  const gone = automated(draft) && draft.spec.syncPolicy?.automated?.prune ? (would.data?.counts.delete ?? 0) : 0;
  const invalid = would.data?.valid === false;
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Change ${app.name}`}
      className="max-w-3xl"
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          {conflict ? (
            <Button look="primary" onClick={onReset}>
              Reload
            </Button>
          ) : (
            <Button look={gone > 0 || invalid ? "danger" : "primary"} busy={busy} onClick={() => void run()}>
              {gone > 0 ? `Save and delete ${plural(gone, "object")}` : invalid ? "Save anyway" : "Save"}
            </Button>
          )}
        </>
      }
    >
      <div className="space-y-3">
        <CodeDiff unified before={yamlOf(base)} after={yamlOf(draft)} label="Changes of the application" />
        {would.error != null ? (
          <Failed error={would.error} retry={() => void would.refetch()} />
        ) : would.data ? (
          <PreviewCard title="Effect of a sync" preview={would.data} />
        ) : (
          <Loading rows={4} label="Reading the plan from the agent" />
        )}
        <p className="text-sm text-muted">
          {automated(draft)
            ? "Auto-sync is on: the result is deployed when you save."
            : "Auto-sync is off: nothing is deployed without a manual sync."}
        </p>
        <Reason value={reason} onChange={setReason} />
        {conflict ? (
          <p role="alert" className="rounded-md bg-warn-soft px-3 py-2">
            {error.message}
          </p>
        ) : (
          error != null && <ErrorNote error={error} />
        )}
      </div>
    </Dialog>
  );
}
