import { api, createUser } from "../support/api";
import { addressOf, pathOf } from "../support/application";
import { kube } from "../support/kube";
import { commit, stack } from "../support/stack";
import { chart, shop, waiting } from "./manifests";
import { states } from "./states";
import { create, deploy, type Named, sync, until } from "./work";

// fill brings life into the demo of `slipway up`: applications in each state that people have to do with, services and
// environments, and somebody who may do less. It gives the names that addresses of pictures use.

interface List {
  items: Named[] | null;
}

async function delivery(): Promise<void> {
  await api("POST", "/api/v1/environments", { name: "staging", type: "PreProduction", region: "eu-central" });
  await api("POST", "/api/v1/environments", { name: "production", type: "Production", region: "eu-north" });
  for (const name of ["checkout", "catalog", "orders", "search"]) {
    await api("POST", "/api/v1/services", { name, displayName: name.replace(/^./, (c) => c.toUpperCase()) });
  }
  await api("POST", "/api/v1/organizations", { name: "acme", displayName: "Acme" });
  await api("POST", "/api/v1/projects", { name: "storefront", organization: "acme" });
  await api("POST", "/api/v1/groups", { name: "operators", description: "Who is called at night" });
  await api("POST", "/api/v1/notification-channels", {
    name: "operators",
    kind: "webhook",
    secret: "operators",
    url: "https://hooks.example.org/slipway",
  });
  await api("POST", "/api/v1/notification-rules", {
    name: "failures",
    channel: "account.operators",
    events: ["sync.failed", "degraded", "held"],
  });
}

// reachable gives an ingress the address that a controller would: without one it is never healthy.
const reachable = (namespace: string) =>
  kube("PATCH", `/apis/networking.k8s.io/v1/namespaces/${namespace}/ingresses/checkout/status`, {
    status: { loadBalancer: { ingress: [{ ip: "203.0.113.10" }] } },
  });

// checkout has a history, a commit that waits, and drift.
async function checkout(): Promise<void> {
  await commit("Add the checkout", {
    "apps/checkout/all.yaml": shop("checkout", "1.4.1", 3),
    "apps/checkout-staging/all.yaml": shop("checkout", "1.5.0", 1),
  });
  await create("checkout-staging", "staging", true, { service: "checkout" });
  await create("checkout", "production", false);
  const settled = (app: Named) => app.sync === "Synced" && app.health === "Healthy" && app.phase === "Succeeded";
  await until(pathOf("checkout"), (app) => app.sync === "OutOfSync");
  await sync("checkout", "first release");
  await until(pathOf("checkout"), (app) => app.phase === "Succeeded");
  await Promise.all(["checkout", "checkout-staging"].map(reachable));
  await until(pathOf("checkout"), settled);
  await deploy("checkout", "Release checkout 1.4.2", { "all.yaml": shop("checkout", "1.4.2", 3) });
  await until(pathOf("checkout"), (app) => app.sync === "OutOfSync");
  await sync("checkout", "");
  await until(pathOf("checkout"), settled);
  await deploy("checkout", "Release checkout 1.5.0 with smaller baskets", {
    "all.yaml": shop("checkout", "1.5.0", 4),
  });
  await kube("PATCH", "/api/v1/namespaces/checkout/configmaps/checkout", { data: { "log-level": "debug" } });
  await until(pathOf("checkout"), (app) => app.sync === "OutOfSync");
}

// catalog waits for somebody, orders for a deployment that never is ready, and search is degraded.
async function troubled(): Promise<void> {
  const regions = Array.from({ length: 14 }, (_, i) => `region-${String(i + 1).padStart(2, "0")}`);
  await commit("Add catalog, orders and search", {
    ...Object.fromEntries(regions.map((name) => [`apps/catalog/${name}.yaml`, chart(name)])),
    "apps/orders/all.yaml": waiting("orders", "pending"),
    "apps/search/all.yaml": waiting("search", "broken"),
  });
  await create("catalog", "production", true);
  await create("orders", "production", true);
  await create("search", "staging", true);
  await until(pathOf("catalog"), (app) => app.sync === "Synced" && app.phase === "Succeeded");
  await deploy(
    "catalog",
    "Move the regions",
    Object.fromEntries(regions.slice(2).map((name) => [`${name}.yaml`, null])),
  );
  await until(pathOf("catalog"), (app) => Boolean(app.held));
  await until(pathOf("orders"), (app) => app.phase === "Running");
  await until(pathOf("search"), (app) => app.health === "Degraded");
}

// regions is a set that makes an application for each region.
async function regions(): Promise<void> {
  const { namespace, repository } = stack();
  await kube("POST", `/apis/argoproj.io/v1alpha1/namespaces/${namespace}/applicationsets`, {
    apiVersion: "argoproj.io/v1alpha1",
    kind: "ApplicationSet",
    metadata: { name: "regions", namespace },
    spec: {
      goTemplate: true,
      generators: [{ list: { elements: [{ region: "eu-central" }, { region: "eu-north" }] } }],
      template: {
        metadata: { name: "cache-{{.region}}" },
        spec: {
          project: "default",
          source: { repoURL: repository, path: "apps/cache", targetRevision: "main" },
          destination: { server: "https://kubernetes.default.svc", namespace: "cache-{{.region}}" },
        },
      },
    },
  });
}

async function namesOf(): Promise<Record<string, string>> {
  const [entry] = (await api<List>("GET", "/api/v1/audit?limit=1")).items ?? [];
  const [operation] = (await api<List>("GET", "/api/v1/ledger?name=checkout&limit=1")).items ?? [];
  const { job } = await api<{ job: Named }>("POST", "/api/v1/jobs", {
    action: "refresh",
    filter: { search: "checkout" },
    reason: "after the release",
  });
  const pods = await kube<{ items: { metadata: Named }[] }>("GET", "/api/v1/namespaces/checkout/pods");
  const inAddress = (object: string) => encodeURIComponent(object);
  return {
    application: addressOf("checkout"),
    held: addressOf("catalog"),
    running: addressOf("orders"),
    degraded: addressOf("search"),
    frozen: addressOf("invoices"),
    unread: addressOf("reports"),
    parent: addressOf("platform"),
    pinned: addressOf("prices"),
    away: "/applications/account.america/america/shop",
    object: inAddress("apps/Deployment/checkout/checkout"),
    pod: inAddress(`/Pod/checkout/${pods.items[0]?.metadata.name}`),
    agent: `/agents/${stack().agent}`,
    service: "/services/account.checkout",
    set: `/application-sets/${stack().agent}/${stack().namespace}/regions`,
    entry: entry?.id ?? "",
    operation: operation?.id ?? "",
    job: job.id ?? "",
  };
}

export interface Filled {
  names: Record<string, string>;
  viewer: { name: string; value: string };
}

export async function fill(): Promise<Filled> {
  const { total } = await api<{ total: number }>("GET", "/api/v1/fleet/applications?search=checkout&limit=1");
  if (total === 0) {
    await delivery();
    await regions();
    await checkout();
    await troubled();
  }
  await states();
  // Somebody who sees one project, in which nothing is.
  const viewer = await createUser(`visitor-${Date.now().toString(36)}-${process.pid}`, [
    { role: "account.viewer", scope: "project.acme.storefront" },
  ]);
  return { names: await namesOf(), viewer };
}
