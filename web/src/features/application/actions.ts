import { useNavigate } from "@tanstack/react-router";
import { useCallback } from "react";
import type { Schemas } from "@/api/client";
import type { App } from "@/lib/application";
import { useAddress } from "@/lib/navigate";
import { syncPanel } from "@/lib/panel";
import { toast, toastError } from "@/ui/toast";
import { type Part, partPath } from "./address";
import type { Named } from "./resource";
import { operate, useMay } from "./use";

export type Action = Schemas["WhyAction"];

// labelOf is what a button for an action says.
export function labelOf(action: Action): string {
  switch (action.action) {
    case "sync":
      return action.prune ? "Sync and prune…" : "Sync…";
    case "refresh":
      return action.hard ? "Hard refresh" : "Refresh";
    case "confirm":
      return "Review and confirm…";
    case "unpin":
      return "End the rollback…";
    case "rollback":
      return "Roll back…";
    case "terminate":
      return "Terminate…";
    case "revert":
      return "Revert drift…";
    case "allow":
      return "Allow the drift…";
    default:
      return "Actions of the object…";
  }
}

// nodeOf is how the page with the resources names an object in its address.
export const nodeOf = (o: Named): string => `${o.group ?? ""}/${o.kind}/${o.namespace ?? ""}/${o.name}`;

export interface Actions {
  // run does an action, or opens what asks for the rest.
  run: (action: Action) => void;
  // why says why an action cannot be done.
  why: (action: Action) => string | undefined;
  open: (dialog: string, more?: Record<string, string>) => void;
  sync: (more?: Record<string, string>) => void;
  refresh: (hard: boolean) => void;
  go: (part: Part, search?: Record<string, string>) => void;
}

// useActions are what can be done with the application, for buttons, the palette and keys alike.
export function useActions(app: App): Actions {
  const [, set] = useAddress();
  const navigate = useNavigate();
  const may = useMay(app);
  const go = useCallback(
    (part: Part, search: Record<string, string> = {}) =>
      void navigate({
        to: partPath(part),
        params: { agent: app.agent, namespace: app.namespace, name: app.name } as never,
        search: search as never,
      }),
    [navigate, app],
  );
  const refresh = useCallback(
    (hard: boolean) =>
      void operate(app, "refresh", hard ? { hard } : {}).then(
        () => toast(hard ? "Hard refresh requested" : "Refresh requested"),
        (error: unknown) => toastError(error, "It could not be refreshed"),
      ),
    [app],
  );
  const open = useCallback(
    (dialog: string, more: Record<string, string> = {}) => set({ do: dialog, ...more }, false),
    [set],
  );
  const sync = useCallback((more: Record<string, string> = {}) => set(syncPanel(more), false), [set]);
  const run = useCallback(
    (action: Action) => {
      const objects = action.objects ?? [];
      switch (action.action) {
        case "sync":
          return sync(action.prune ? { prune: "1" } : {});
        case "refresh":
          return refresh(Boolean(action.hard));
        case "revert":
        case "allow":
          return go("diff", {
            kind: "drift",
            ...(action.action === "revert" ? { do: "revert" } : {}),
            ...(objects[0] ? { object: nodeOf(objects[0]) } : {}),
          });
        case "rollback":
          return go("history", { do: "rollback" });
        case "resource-action":
          return go("", objects[0] ? { resource: nodeOf(objects[0]) } : {});
        default:
          return open(action.action);
      }
    },
    [sync, refresh, go, open],
  );
  const why = useCallback(
    (action: Action) => (action.action === "refresh" || action.action === "resource-action" ? may.refresh : may.sync),
    [may.sync, may.refresh],
  );
  return { run, why, open, sync, refresh, go };
}
