import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { type App, lookKey } from "@/lib/application";
import { plural, sentence } from "@/lib/format";
import { Confirm } from "@/ui/confirm";
import { ErrorNote, Loading } from "@/ui/states";
import { toast } from "@/ui/toast";
import { Objects, Reason, Warnings } from "./dialog-parts";
import { keyOf, placeOf } from "./resource";
import { farewell, remove, useDetail } from "./use";

type How = "foreground" | "background" | "orphan";

const choices: { value: How; label: string; hint: string }[] = [
  {
    value: "foreground",
    label: "Delete its objects, and wait until they are gone",
    hint: "The Application is deleted last (foreground).",
  },
  {
    value: "background",
    label: "Delete its objects in the background",
    hint: "The Application is deleted when the deletions are requested; dependents are deleted afterwards.",
  },
  {
    value: "orphan",
    label: "Keep its objects",
    hint: "Only the Application is deleted. Its objects stay and no longer follow Git.",
  },
];

// DeleteApplication names what goes before anything does.
export function DeleteApplication({ app, onClose }: { app: App; onClose: () => void }) {
  const { resource } = useDetail(app);
  const [how, setHow] = useState<How>("foreground");
  const [reason, setReason] = useState("");
  const navigate = useNavigate();
  const own = (resource.status?.resources ?? []).filter((o) => !o.hook);
  const cascade = how !== "orphan";
  const tried = useQuery({ queryKey: lookKey(app, "try", "delete"), gcTime: 0, queryFn: () => farewell(app) });
  const stay = cascade ? (tried.data?.objects ?? []).filter((o) => o.stays) : [];
  const staying = new Set(stay.map(keyOf));
  const objects = own.filter((o) => !staying.has(keyOf(o)));
  const run = async () => {
    await remove(app, {
      ...(how === "orphan" ? { cascade: false } : { cascade: true, propagation: how }),
      ...(reason ? { reason } : {}),
    });
    toast(`${app.name} is being deleted`, cascade ? `with ${plural(objects.length, "object")}` : "its objects stay");
    await navigate({ to: "/applications" });
  };
  return (
    <Confirm
      open
      onClose={onClose}
      title={`Delete ${app.name}`}
      action={`Delete ${app.name}`}
      typed={app.name}
      onConfirm={run}
    >
      <fieldset className="space-y-2">
        <legend className="mb-1 text-sm font-medium">What goes</legend>
        {choices.map((c) => (
          <label key={c.value} className="flex items-start gap-2">
            <input
              type="radio"
              name="how"
              value={c.value}
              checked={how === c.value}
              onChange={() => setHow(c.value)}
              className="mt-1 accent-accent"
            />
            <span>
              {c.label}
              <span className="block text-sm text-muted">{c.hint}</span>
            </span>
          </label>
        ))}
      </fieldset>
      {objects.length > 0 && (
        <div>
          <p className="mb-1">
            {cascade
              ? `${plural(objects.length, "object")} and what they own are deleted from the cluster:`
              : `${plural(objects.length, "object")} stay in the cluster:`}
          </p>
          <Objects objects={objects} label={cascade ? "Objects that are deleted" : "Objects that stay"} />
        </div>
      )}
      {cascade && tried.error != null && <ErrorNote error={tried.error} />}
      {cascade && tried.isPending && <Loading rows={1} label="Loading the objects that stay" />}
      {cascade && <Warnings list={tried.data?.warnings?.map(sentence)} />}
      {stay.length > 0 && (
        <div>
          <p className="mb-1">{`${plural(stay.length, "object")} ${stay.length === 1 ? "stays" : "stay"} in the cluster:`}</p>
          <ul aria-label="Objects that stay" className="max-h-56 overflow-auto rounded-md border bg-ground p-2 text-sm">
            {stay.map((o) => (
              <li key={keyOf(o)} className="break-words">
                <span className="font-mono">{placeOf(o)}</span>: {o.stays}
              </li>
            ))}
          </ul>
        </div>
      )}
      <Reason value={reason} onChange={setReason} />
    </Confirm>
  );
}
