import { useHotkeys } from "@/lib/hotkeys";
import { useCommands } from "@/lib/palette";
import type { App } from "@/lib/application";
import { type Action, type Actions, labelOf } from "./actions";
import { type Resource, running } from "./resource";
import { useMay } from "./use";

// useOffers has the actions in the palette and on keys.
export function useOffers(app: App, actions: Actions, resource: Resource, primary: Action | undefined): void {
  const may = useMay(app);
  const group = app.name;
  const under = running(resource) !== undefined;
  useCommands([
    ...(primary && primary.action !== "sync" && primary.action !== "refresh"
      ? [
          {
            id: "application.next",
            title: `${labelOf(primary).replace("…", "")}: recommended now`,
            group,
            disabled: actions.why(primary),
            run: () => actions.run(primary),
          },
        ]
      : []),
    {
      id: "application.sync",
      title: `Sync ${app.name}`,
      group,
      shortcut: "s",
      disabled: may.sync,
      run: () => actions.sync(),
    },
    {
      id: "application.refresh",
      title: `Refresh ${app.name}`,
      group,
      shortcut: "r",
      disabled: may.refresh,
      run: () => actions.refresh(false),
    },
    {
      id: "application.hard",
      title: `Hard refresh ${app.name}`,
      group,
      disabled: may.refresh,
      run: () => actions.refresh(true),
    },
    {
      id: "application.rollback",
      title: `Roll back ${app.name}`,
      group,
      disabled: may.sync,
      run: () => actions.go("history", { do: "rollback" }),
    },
    ...(under
      ? [
          {
            id: "application.terminate",
            title: `Terminate the operation of ${app.name}`,
            group,
            disabled: may.sync,
            run: () => actions.open("terminate"),
          },
        ]
      : []),
    {
      id: "application.diff",
      title: "Show differences",
      group,
      shortcut: "d",
      keywords: "drift",
      run: () => actions.go("diff"),
    },
    { id: "application.history", title: "Show the history", group, shortcut: "h", run: () => actions.go("history") },
    { id: "application.why", title: "Show why it is like this", group, shortcut: "w", run: () => actions.go("why") },
    { id: "application.settings", title: `Edit ${app.name}`, group, shortcut: "e", run: () => actions.go("settings") },
    {
      id: "application.delete",
      title: `Delete ${app.name}`,
      group,
      disabled: may.remove,
      run: () => actions.open("delete"),
    },
  ]);
  useHotkeys([
    { keys: "s", what: "Sync", run: () => !may.sync && actions.sync() },
    { keys: "r", what: "Refresh", run: () => !may.refresh && actions.refresh(false) },
    { keys: "d", what: "Differences", run: () => actions.go("diff") },
    { keys: "h", what: "History", run: () => actions.go("history") },
    { keys: "w", what: "Why", run: () => actions.go("why") },
    { keys: "e", what: "Settings of the application", run: () => actions.go("settings") },
  ]);
}
