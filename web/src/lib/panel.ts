import type { Search } from "./search";

// The panel for a sync is over the page of an application, whatever part of it is shown. Its parameters in the address are names
// that no part filters by: what is below the panel stays as it is.

// syncPanel is what the address has while the panel is open.
export const syncPanel = (more: Record<string, string> = {}): Record<string, string> => ({ panel: "sync", ...more });

// noPanel closes it.
export const noPanel: Search = { panel: "", prune: "", objects: "" };
