import { expect } from "@playwright/test";
import { api } from "./api";
import { commit, stack } from "./stack";

const applications = () => `/api/v1/agents/${stack().agent}/applications`;

// pathOf is where the API has an application of the demo's agent, addressOf where its page is.
export const pathOf = (name: string) => `${applications()}/${stack().namespace}/${name}`;
export const addressOf = (name: string) => `/applications/${stack().agent}/${stack().namespace}/${name}`;

export interface More {
  // project is default where it is left out.
  project?: string;
  // automated is what the policy says of syncs by itself: nothing of pruning and self-healing where it is true.
  automated?: boolean | { prune: boolean; selfHeal: boolean };
  labels?: Record<string, string>;
  info?: { name: string; value: string }[];
  // namespace is where its objects go: one of its own, which is made and has its name, where it is left out.
  namespace?: string;
  // revision is main where it is left out.
  revision?: string;
}

// createApplication commits files below apps/NAME, and has an application for them.
// Where it is pinned, it stays at that commit, whatever other specs push: they would have it synced, and what a spec changed in the
// cluster taken back.
export async function createApplication(
  name: string,
  files: Record<string, string>,
  { pinned, ...more }: More & { pinned?: boolean } = {},
): Promise<void> {
  const revision = await commitTo(name, `Begin ${name}`, files);
  await declareApplication(name, pinned ? { ...more, revision } : more);
}

// commitTo pushes files below apps/NAME, null for one that is to go, and returns the commit's id.
export const commitTo = (name: string, message: string, files: Record<string, string | null>): Promise<string> =>
  commit(message, Object.fromEntries(Object.entries(files).map(([file, text]) => [`apps/${name}/${file}`, text])));

// declareApplication has an application for apps/NAME of the demo repository, which may not be there.
export async function declareApplication(
  name: string,
  { project, automated, labels, info, namespace, revision }: More = {},
): Promise<void> {
  await api("POST", applications(), {
    resource: {
      apiVersion: "argoproj.io/v1alpha1",
      kind: "Application",
      metadata: {
        name,
        namespace: stack().namespace,
        finalizers: ["resources-finalizer.argocd.argoproj.io"],
        labels,
      },
      spec: {
        project: project ?? "default",
        source: { repoURL: stack().repository, path: `apps/${name}`, targetRevision: revision ?? "main" },
        destination: { server: "https://kubernetes.default.svc", namespace: namespace ?? name },
        info,
        syncPolicy: {
          ...(namespace === undefined && { syncOptions: ["CreateNamespace=true"] }),
          ...(automated && { automated: automated === true ? {} : automated }),
        },
      },
    },
  });
}

// refresh has the agent look at the repository, and waits until it has.
export async function refresh(name: string): Promise<void> {
  const from = Date.now();
  await api("POST", `${pathOf(name)}/refresh`, {});
  await expect.poll(() => lookedAt(name)).toBeGreaterThanOrEqual(from);
}

// lookedAt is when a look was asked for that there was one for; 0 while one is waited for.
async function lookedAt(name: string): Promise<number> {
  const { resource } = await api<{ resource: { metadata: { annotations?: Record<string, string> } } }>(
    "GET",
    pathOf(name),
  );
  const { "argocd.argoproj.io/refresh": asked, "argocd.argoproj.io/refresh-timestamp": at } =
    resource.metadata.annotations ?? {};
  return asked || !at ? 0 : Date.parse(at);
}

// stateOf is sync and health of an application, and how its last operation ended.
export async function stateOf(name: string): Promise<string> {
  const { sync, health, phase } = await api<{ sync: string; health: string; phase?: string }>("GET", pathOf(name));
  return [sync, health, phase].filter(Boolean).join(" ");
}

export const deleteApplication = (name: string) => api("DELETE", `${pathOf(name)}?cascade=true`);

export const configMap = (name: string, greeting: string) =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\ndata:\n  greeting: ${greeting}\n`;

export const deployment = (name: string, replicas: number) => `apiVersion: apps/v1
kind: Deployment
metadata:
  name: ${name}
spec:
  replicas: ${replicas}
  selector:
    matchLabels: { app: ${name} }
  template:
    metadata:
      labels: { app: ${name} }
    spec:
      containers:
        - name: app
          image: registry.example/${name}:1
`;
