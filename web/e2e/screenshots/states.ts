import { join } from "node:path";
import { connectAgent } from "../support/agent";
import { api, session } from "../support/api";
import { pathOf } from "../support/application";
import { kube } from "../support/kube";
import { commit, stack } from "../support/stack";
import { chart, shop, waiting } from "./manifests";
import { create, deploy, type Named, until } from "./work";

// Applications in states in which a person has to find out something, or to do something.

const projects = () => `/apis/argoproj.io/v1alpha1/namespaces/${stack().namespace}/appprojects`;

const found = async (name: string) =>
  (await api<{ total: number }>("GET", `/api/v1/fleet/applications?search=${name}&limit=1`)).total > 0;

const settled = (app: Named) => app.sync === "Synced" && app.health === "Healthy" && app.phase === "Succeeded";

// frozen is out of sync, and its project lets nothing be synced for a week.
async function frozen(): Promise<void> {
  await kube("POST", projects(), {
    apiVersion: "argoproj.io/v1alpha1",
    kind: "AppProject",
    metadata: { name: "billing", namespace: stack().namespace },
    spec: {
      sourceRepos: ["*"],
      destinations: [{ server: "*", namespace: "*" }],
      clusterResourceWhitelist: [{ group: "*", kind: "*" }],
    },
  });
  await commit("Add the invoices", { "apps/invoices/all.yaml": chart("invoices") });
  await create("invoices", "production", true, { project: "billing" });
  await until(pathOf("invoices"), settled);
  await kube("PATCH", `${projects()}/billing`, {
    spec: { syncWindows: [{ kind: "deny", schedule: "* * * * *", duration: "168h", applications: ["*"] }] },
  });
  await deploy("invoices", "Round invoices to cents", { "all.yaml": `${chart("invoices")}  round: cents\n` });
  await until(pathOf("invoices"), (app) => app.sync === "OutOfSync");
}

// unread has a source whose directory is missing.
async function unread(): Promise<void> {
  await create("reports", "staging", true);
  await until(pathOf("reports"), (app) => app.sync === "Unknown");
}

// family is an application of applications, one of which is degraded.
async function family(): Promise<void> {
  const { namespace, repository } = stack();
  const child = (name: string) => `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata:
  name: ${name}
  namespace: ${namespace}
spec:
  project: default
  source: { repoURL: "${repository}", path: apps/${name}, targetRevision: main }
  destination: { server: "https://kubernetes.default.svc", namespace: ${name} }
  syncPolicy: { automated: {}, syncOptions: [CreateNamespace=true] }
`;
  await commit("Add the platform", {
    "apps/platform/cache.yaml": child("cache"),
    "apps/platform/queue.yaml": child("queue"),
    "apps/cache/all.yaml": chart("cache"),
    "apps/queue/all.yaml": waiting("queue", "broken"),
  });
  await create("platform", "production", true, { namespace });
  await until(pathOf("queue"), (app) => app.health === "Degraded");
  await until(pathOf("cache"), settled);
}

// pinned is rolled back by a person, for a reason.
async function pinned(): Promise<void> {
  await commit("Add the prices", { "apps/prices/all.yaml": chart("prices") });
  await create("prices", "production", true);
  await until(pathOf("prices"), settled);
  const { revision } = await api<Named>("GET", pathOf("prices"));
  await deploy("prices", "Show prices without tax", { "all.yaml": `${chart("prices")}  tax: none\n` });
  await until(pathOf("prices"), (app) => settled(app) && app.revision !== revision);
  await api("POST", `${pathOf("prices")}/rollback`, { id: 0, reason: "customers saw wrong prices" });
  await until(pathOf("prices"), (app) => app.revision === revision || app.phase === "Succeeded");
}

// away is an agent that stopped after it deployed an application.
async function away(): Promise<void> {
  const { url, data, repository } = stack();
  const agent = await connectAgent({ url, session: session(), dir: join(data, "america") }, "america", "america");
  const path = `/api/v1/agents/${agent.id}/applications`;
  await commit("Add the shop of America", { "apps/shop-america/all.yaml": shop("shop", "1.4.1", 2) });
  await api("POST", path, {
    resource: {
      apiVersion: "argoproj.io/v1alpha1",
      kind: "Application",
      metadata: { name: "shop", namespace: agent.namespace },
      spec: {
        project: "default",
        source: { repoURL: repository, path: "apps/shop-america", targetRevision: "main" },
        destination: { server: "https://kubernetes.default.svc", namespace: agent.namespace },
        syncPolicy: { automated: {} },
      },
    },
  });
  await until(`${path}/${agent.namespace}/shop`, (app) => app.sync === "Synced" && app.phase === "Succeeded");
  await agent.leave();
  await until(`/api/v1/agents/${agent.id}`, ({ status }) => (status as unknown as Named).state === "Disconnected");
}

// states makes those that are not there yet.
export async function states(): Promise<void> {
  for (const [name, make] of Object.entries({ invoices: frozen, reports: unread, platform: family, prices: pinned })) {
    if (!(await found(name))) {
      await make();
    }
  }
  const { items } = await api<{ items: Named[] }>("GET", "/api/v1/agents");
  if (!items.some((agent) => agent.name === "america")) {
    await away();
  }
}
