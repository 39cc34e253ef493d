import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from "@tanstack/react-router";
import { Broken, NotFound } from "./features/shell/broken";
import { Shell } from "./features/shell/shell";
import { queryClient } from "./lib/query";
import { parseSearch, stringifySearch, texts } from "./lib/search";
import { sessionQuery } from "./lib/session";

// The only place where features meet: each address and which page it shows. What follows "?" is what a page is filtered by.

const root = createRootRoute({ errorComponent: Broken });

const signIn = createRoute({
  getParentRoute: () => root,
  path: "/sign-in",
  validateSearch: texts("to"),
  component: lazyRouteComponent(() => import("./features/session/sign-in")),
});

const shell = createRoute({
  getParentRoute: () => root,
  id: "shell",
  component: Shell,
  beforeLoad: async ({ location }) => {
    const who = await queryClient.ensureQueryData({ ...sessionQuery, revalidateIfStale: true });
    if (!who || who.user?.mustChangePassword) {
      throw redirect({ to: "/sign-in", search: location.href === "/" ? {} : { to: location.href } });
    }
  },
});

type Load = () => Promise<{ default: React.ComponentType }>;

// shows is what all pages have in common. Their search parameters are texts, checked by the page itself.
const shows = (load: Load) => ({ validateSearch: texts(), component: lazyRouteComponent(load) });

// page is one address and the page that it shows.
const page = <P extends string>(path: P, load: Load) =>
  createRoute({ getParentRoute: () => shell, path, ...shows(load) });

const application = createRoute({
  getParentRoute: () => shell,
  path: "/applications/$agent/$namespace/$name",
  ...shows(() => import("./features/application/application")),
});

// part is a part of the page of an application; alone it needs nothing of what the page reads.
const part = <P extends string>(path: P, load: Load, alone = false) =>
  createRoute({ getParentRoute: () => application, path, ...shows(load), staticData: { alone } });

// Every component in every state, to look at while one works on them, and for the spec that compares pictures of them. It is part
// of no build for users.
const design = createRoute({
  getParentRoute: () => root,
  path: "/design",
  ...(import.meta.env.DEV && { component: lazyRouteComponent(() => import("./features/design/design")) }),
});

const tree = root.addChildren([
  signIn,
  ...(import.meta.env.DEV ? [design] : []),
  shell.addChildren([
    page("/", () => import("./features/fleet/fleet")),
    page("/applications", () => import("./features/applications/applications")),
    page("/applications/new", () => import("./features/create/create")),
    application.addChildren([
      part("/", () => import("./features/resources/resources"), true),
      part("/diff", () => import("./features/application/diff")),
      part("/sync", () => import("./features/application/sync")),
      part("/history", () => import("./features/application/history")),
      part("/why", () => import("./features/application/why")),
      part("/parameters", () => import("./features/application/parameters")),
      part("/events", () => import("./features/application/events")),
      part("/logs", () => import("./features/resources/logs")),
      part("/settings", () => import("./features/application/settings")),
    ]),
    page("/application-sets", () => import("./features/sets/sets")),
    page("/application-sets/$agent/$namespace/$name", () => import("./features/sets/set")),
    page("/projects", () => import("./features/delivery/projects")),
    page("/clusters", () => import("./features/delivery/clusters")),
    page("/repositories", () => import("./features/delivery/repositories")),
    page("/certificates", () => import("./features/delivery/certificates")),
    page("/keys", () => import("./features/delivery/keys")),
    page("/agents", () => import("./features/agents/agents")),
    page("/agents/connect", () => import("./features/agents/connect")),
    page("/agents/upgrades", () => import("./features/agents/upgrades")),
    page("/agents/$agent", () => import("./features/agents/agent")),
    page("/services", () => import("./features/services/services")),
    page("/services/$service", () => import("./features/services/service")),
    page("/environments", () => import("./features/services/environments")),
    page("/jobs", () => import("./features/jobs/jobs")),
    page("/audit", () => import("./features/audit/audit")),
    page("/ledger", () => import("./features/audit/ledger")),
    page("/notifications", () => import("./features/notifications/notifications")),
    page("/access", () => import("./features/access/access")),
    page("/settings", () => import("./features/access/settings")),
    page("/profile", () => import("./features/profile/profile")),
    // Any other address: with what leads on around it.
    createRoute({ getParentRoute: () => shell, path: "/$", component: NotFound }),
  ]),
]);

export const router = createRouter({
  routeTree: tree,
  defaultPreload: "intent",
  defaultPreloadStaleTime: 0,
  scrollRestoration: true,
  parseSearch,
  stringifySearch,
});

// Who went on from an element that is gone with its page goes on in the page that came. What is opened first is the browser's.
router.subscribe("onRendered", ({ fromLocation, pathChanged }) => {
  if (fromLocation && pathChanged && document.activeElement === document.body) {
    document.getElementById("main")?.focus({ preventScroll: true });
  }
});

// begin reads the code of the page while the server says who is signed in: neither waits for the other.
export function begin(): void {
  for (const { routeId } of router.matchRoutes(router.latestLocation)) {
    const route = router.routesById[routeId as keyof typeof router.routesById];
    if (route) {
      void router.loadRouteChunk(route)?.catch(() => undefined); // the page itself shows it
    }
  }
}

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
  interface StaticDataRouteOption {
    alone?: boolean;
  }
}
