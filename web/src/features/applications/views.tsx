import { useQuery } from "@tanstack/react-query";
import { Bookmark, Trash2 } from "lucide-react";
import { useState } from "react";
import { client, data, type Schemas } from "@/api/client";
import { queryClient } from "@/lib/query";
import { useMissing } from "@/lib/session";
import { Button } from "@/ui/button";
import { Confirm } from "@/ui/confirm";
import { Dialog } from "@/ui/dialog";
import { Checkbox, Field, Input } from "@/ui/field";
import { Menu, type MenuItem } from "@/ui/menu";
import { ErrorNote } from "@/ui/states";
import { toast } from "@/ui/toast";
import type { Filter } from "./filter";

type View = Schemas["View"];

const viewsQuery = {
  queryKey: ["savedview", "list"] as const,
  queryFn: ({ signal }: { signal: AbortSignal }) => data(client.GET("/api/v1/fleet/views", { signal })),
};

const reread = () => queryClient.invalidateQueries({ queryKey: ["savedview"] });

// Views offers saved filters, and to save the present one.
export function Views({ filter, onApply }: { filter: Filter; onApply: (filter: Filter) => void }) {
  const { data: views, error } = useQuery(viewsQuery);
  const [saving, setSaving] = useState(false);
  const [deleting, setDeleting] = useState<View | "choose" | null>(null);
  const missing = useMissing("savedview_edit", "account");
  const list = views?.items ?? [];
  const item = (v: View): MenuItem => ({
    label: (
      <>
        {v.name}
        {v.description && <span className="block text-xs text-muted">{v.description}</span>}
      </>
    ),
    run: () => onApply(v.filter),
  });
  const mine = list.filter((v) => !v.everyone);
  const everyones = list.filter((v) => v.everyone);
  return (
    <>
      <Menu
        trigger={
          <Button>
            <Bookmark size={14} aria-hidden />
            Views
          </Button>
        }
        items={[
          ...(error ? ["The views could not be read"] : []),
          ...(mine.length > 0 ? ["Yours", ...mine.map(item)] : []),
          ...(everyones.length > 0 ? ["Everyone's", ...everyones.map(item)] : []),
          ...(list.length > 0 ? [null] : []),
          { label: "Save this view…", run: () => setSaving(true) },
          ...(list.length > 0 ? [{ label: "Delete a view…", run: () => setDeleting("choose") }] : []),
        ]}
      />
      {saving && <Save filter={filter} list={list} missing={missing} onClose={() => setSaving(false)} />}
      <Dialog open={deleting === "choose"} onClose={() => setDeleting(null)} title="Delete a view">
        <ul className="divide-y">
          {list.map((v) => (
            <li key={`${v.everyone} ${v.name}`} className="flex items-center gap-2 py-1.5">
              <span className="min-w-0 flex-1 truncate">
                {v.name} <span className="text-muted">{v.everyone ? "everyone's" : "yours"}</span>
              </span>
              <Button
                small
                why={v.everyone ? missing : undefined}
                aria-label={`Delete the view ${v.name}`}
                onClick={() => setDeleting(v)}
              >
                <Trash2 size={14} aria-hidden />
              </Button>
            </li>
          ))}
        </ul>
      </Dialog>
      {deleting !== null && deleting !== "choose" && (
        <Confirm
          open
          onClose={() => setDeleting(null)}
          title={`Delete the view ${deleting.name}`}
          action={`Delete ${deleting.name}`}
          onConfirm={async () => {
            await data(
              client.DELETE("/api/v1/fleet/views/{name}", {
                params: { path: { name: deleting.name }, query: deleting.everyone ? { everyone: true } : {} },
              }),
            );
            await reread();
            toast(`The view ${deleting.name} is deleted`);
          }}
        >
          <p>
            The saved filter {deleting.name} goes{deleting.everyone ? ", for everyone" : ""}. Applications stay as they
            are.
          </p>
        </Confirm>
      )}
    </>
  );
}

const shape = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

function Save({
  filter,
  list,
  missing,
  onClose,
}: {
  filter: Filter;
  list: View[];
  missing: string | undefined;
  onClose: () => void;
}) {
  const [name, setName] = useState("");
  const [description, setDescription] = useState("");
  const [everyone, setEveryone] = useState(false);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const there = list.some((v) => v.name === name && Boolean(v.everyone) === everyone);
  const bad = name !== "" && !shape.test(name);
  const save = async () => {
    setBusy(true);
    setError(null);
    try {
      await data(
        client.PUT("/api/v1/fleet/views/{name}", {
          params: { path: { name }, query: {} },
          body: { name, description, everyone, filter },
        }),
      );
      await reread();
      toast(`The view ${name} is saved`);
      onClose();
    } catch (problem) {
      setError(problem);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title="Save this view"
      description="The search and all conditions are saved; ages stay relative."
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" form="save-view" busy={busy} disabled={name === "" || bad}>
            {there ? "Replace" : "Save"}
          </Button>
        </>
      }
    >
      <form
        id="save-view"
        className="space-y-3"
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <Field
          label="Name"
          error={bad ? "Lower-case letters, digits and inner hyphens, at most 63" : undefined}
          hint={there ? "A view of this name exists and is replaced" : "For example: needs-attention"}
        >
          <Input value={name} autoComplete="off" onChange={(e) => setName(e.target.value)} />
        </Field>
        <Field label="Description">
          <Input value={description} maxLength={1000} onChange={(e) => setDescription(e.target.value)} />
        </Field>
        <Checkbox
          label="For everyone"
          hint={missing}
          disabled={missing !== undefined}
          checked={everyone}
          onChange={(e) => setEveryone(e.target.checked)}
        />
        {error != null && <ErrorNote error={error} />}
      </form>
    </Dialog>
  );
}
