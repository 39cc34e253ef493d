import { useState } from "react";
import { changed, editable, type Raw } from "./edit";
import type { Resource } from "./resource";

export interface Draft {
  // base is what the draft was made of: the resource as it was when the edit began.
  base: Resource;
  draft: Raw;
  set: (change: (draft: Raw) => void) => void;
  replace: (draft: Raw) => void;
  reset: () => void;
}

// useDraft is an edit of the resource. Without a change, it follows the present resource.
export function useDraft(resource: Resource): Draft {
  const [edit, setEdit] = useState<{ base: Resource; draft: Raw } | null>(null);
  const here = edit && changed(edit.draft, edit.base) ? edit : { base: resource, draft: editable(resource) };
  return {
    ...here,
    set(change) {
      const draft = structuredClone(here.draft);
      change(draft);
      setEdit({ base: here.base, draft });
    },
    replace: (draft) => setEdit({ base: here.base, draft }),
    reset: () => setEdit(null),
  };
}
