import type { Page } from "@playwright/test";

// Picture is a page as it is at an address, after what has to be done there first. {application} and the like are what a
// world has of that name; a picture is left out where it has none.
export interface Picture {
  name: string;
  path: string;
  as?: "viewer" | "nobody";
  open?: (page: Page) => Promise<void>;
}

const at = (name: string, path: string, more: Partial<Picture> = {}): Picture => ({ name, path, ...more });

const palette = (text: string) => async (page: Page) => {
  await page.keyboard.press("ControlOrMeta+k");
  await page.getByRole("dialog").getByRole("combobox").fill(text);
};

// The pages that `make screenshots` makes pictures of.
export const pictures: Picture[] = [
  at("sign-in", "/sign-in", { as: "nobody" }),
  at("fleet", "/"),
  at("fleet-by-environment", "/?by=environment"),
  at("palette", "/", { open: palette("") }),
  at("palette-found", "/", { open: palette("app") }),
  at("keys-of-pages", "/", { open: (page) => page.keyboard.press("?") }),
  at("applications", "/applications"),
  at("applications-tiles", "/applications?view=tiles"),
  at("applications-none-like-that", "/applications?q=no-such-application"),
  at("application-new", "/applications/new"),
  at("resources", "{application}"),
  at("resources-list", "{application}?view=list"),
  at("resources-pods", "{application}?view=pods"),
  at("resources-network", "{application}?view=network"),
  at("object", "{application}?resource={object}"),
  at("object-events", "{application}?resource={object}&tab=events"),
  at("object-live", "{application}?resource={object}&tab=live"),
  at("object-desired", "{application}?resource={object}&tab=desired"),
  at("object-diff", "{application}?resource={object}&tab=diff"),
  at("object-logs", "{application}?resource={object}&tab=logs"),
  at("object-terminal", "{application}?resource={pod}&tab=terminal"),
  at("object-gone", "{application}?resource=%2FPod%2Fdefault%2Fgone"),
  at("diff", "{application}/diff"),
  at("drift", "{application}/diff?kind=drift"),
  at("sync", "{application}/sync"),
  at("sync-panel", "{application}?panel=sync"),
  at("history", "{application}/history"),
  at("rollback", "{application}/history?do=rollback"),
  at("why", "{application}/why"),
  at("parameters", "{application}/parameters"),
  at("events", "{application}/events"),
  at("logs", "{application}/logs"),
  at("application-settings", "{application}/settings"),
  at("application-delete", "{application}?do=delete"),
  at("running", "{running}/sync"),
  at("held", "{held}"),
  at("held-confirm", "{held}?do=confirm"),
  at("degraded", "{degraded}"),
  at("degraded-why", "{degraded}/why"),
  at("frozen", "{frozen}"),
  at("frozen-sync-panel", "{frozen}?panel=sync"),
  at("unread", "{unread}"),
  at("unread-why", "{unread}/why"),
  at("parent", "{parent}"),
  at("pinned", "{pinned}"),
  at("away", "{away}"),
  at("away-sync", "{away}/sync"),
  at("away-list", "/applications?stale=true"),
  at("application-gone", "/applications/account.none/argocd/gone"),
  at("application-sets", "/application-sets"),
  at("application-set", "{set}"),
  at("projects", "/projects"),
  at("projects-organizations", "/projects?tab=organizations"),
  at("projects-argo", "/projects?tab=argo"),
  at("clusters", "/clusters"),
  at("repositories", "/repositories"),
  at("repository-new", "/repositories?add=repositories"),
  at("certificates", "/certificates"),
  at("keys", "/keys"),
  at("agents", "/agents"),
  at("agent", "{agent}"),
  at("agent-connect", "/agents/connect"),
  at("upgrades", "/agents/upgrades"),
  at("services", "/services"),
  at("service", "{service}"),
  at("environments", "/environments"),
  at("jobs", "/jobs"),
  at("job", "/jobs?job={job}"),
  at("audit", "/audit"),
  at("audit-entry", "/audit?open={entry}"),
  at("ledger", "/ledger"),
  at("ledger-at", "/ledger?tab=at"),
  at("ledger-between", "/ledger?tab=between"),
  at("ledger-operation", "/ledger?open={operation}"),
  at("notifications", "/notifications"),
  at("notifications-channels", "/notifications?tab=channels"),
  at("notifications-deliveries", "/notifications?tab=deliveries"),
  at("access", "/access"),
  at("access-roles", "/access?tab=roles"),
  at("access-bindings", "/access?tab=bindings"),
  at("access-can", "/access?tab=can"),
  at("user-new", "/access?tab=users&open=new"),
  at("settings", "/settings"),
  at("profile", "/profile"),
  at("no-permission", "/access", { as: "viewer" }),
  at("application-of-others", "{application}", { as: "viewer" }),
  at("not-found", "/no/such/page"),
];
