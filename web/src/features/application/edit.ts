import { ApiError } from "@/api/client";
import { type App, detailQuery } from "@/lib/application";
import { queryClient } from "@/lib/query";
import { type Resource, resourceOf } from "./resource";
import { write } from "./use";

// An edit is made of the resource as it was read, and written with it: what is in neither stays, unknown fields included.

export type Raw = Resource & Record<string, unknown>;

// Annotations that agents write; they are no edit of a user.
const theirs =
  /^(slipway\.io\/history-notes|argocd\.argoproj\.io\/(refresh|refresh-timestamp|hydrate|hydrate-timestamp))$/;

// editable is the resource without what only the cluster and the agent write.
export function editable(resource: Resource): Raw {
  const { status: _, operation: __, ...rest } = structuredClone(resource) as Raw;
  const { managedFields: ___, ...metadata } = rest.metadata as Raw["metadata"] & { managedFields?: unknown };
  const annotations = Object.fromEntries(Object.entries(metadata.annotations ?? {}).filter(([k]) => !theirs.test(k)));
  return {
    ...rest,
    metadata: { ...metadata, ...(Object.keys(annotations).length > 0 ? { annotations } : { annotations: undefined }) },
  } as Raw;
}

// tried is an edit as a preview takes it. It goes with no version: a new status alone would make it an old one, and what was
// changed by another user in the meantime is detected when it is saved.
export function tried(draft: Resource, base: Resource): { resource: unknown; base: unknown; update: true } {
  const at = (of: Resource) => {
    const out = editable(of);
    return { ...out, metadata: { ...out.metadata, resourceVersion: undefined } };
  };
  return { resource: at(draft), base: at(base), update: true };
}

// ordered writes an object with sorted names, so that two that say the same are the same text.
export function ordered(value: unknown): string {
  return JSON.stringify(value, (_, v: unknown) =>
    typeof v === "object" && v !== null && !Array.isArray(v)
      ? Object.fromEntries(Object.entries(v).sort(([a], [b]) => (a < b ? -1 : 1)))
      : v,
  );
}

// intent is what people say in a resource: what changes beside it, such as the status, is no conflict with an edit.
export function intent(resource: Resource): string {
  const { metadata, spec } = editable(resource);
  return ordered([spec, metadata.labels ?? {}, metadata.annotations ?? {}, metadata.finalizers ?? []]);
}

// changed says whether an edit says something else than what it was made of.
export const changed = (draft: Resource, base: Resource): boolean => intent(draft) !== intent(base);

// EditConflict means that another user has changed what an edit was made of.
export class EditConflict extends Error {
  constructor() {
    super("Another user has changed the application in the meantime: reload it and repeat your change.");
  }
}

const attempts = 4;

// save writes an edit with the version that the server knows now. An agent writes the status at any time, and with it comes
// a new version: as long as the fields of the edit are unchanged, it is tried again with that.
export async function save(app: App, draft: Resource, base: Resource, reason: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const now = resourceOf(await queryClient.fetchQuery({ ...detailQuery(app), staleTime: 0 }));
    if (changed(now, base)) {
      throw new EditConflict();
    }
    const version = now.metadata.resourceVersion;
    const at = (of: Resource) => {
      const out = editable(of);
      return { ...out, metadata: { ...out.metadata, resourceVersion: version } };
    };
    try {
      await write(app, at(draft), at(base), reason);
      return;
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 409) || attempt === attempts) {
        throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, 250 * attempt));
    }
  }
}
