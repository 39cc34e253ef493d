import { api } from "./api";
import { commit, stack } from "./stack";

const applications = () => `/api/v1/agents/${stack().agent}/applications`;

// pathOf is where the API has an application of the demo's agent, addressOf where its page is.
export const pathOf = (name: string) => `${applications()}/${stack().namespace}/${name}`;
export const addressOf = (name: string) => `/applications/${stack().agent}/${stack().namespace}/${name}`;

interface More {
  automated?: boolean;
  labels?: Record<string, string>;
}

// createApplication commits files below apps/NAME, and has an application for them in a namespace of that name.
export async function createApplication(name: string, files: Record<string, string>, more: More = {}): Promise<void> {
  const directory = `apps/${name}`;
  await commit(
    `Begin ${name}`,
    Object.fromEntries(Object.entries(files).map(([file, text]) => [`${directory}/${file}`, text])),
  );
  await declareApplication(name, directory, more);
}

// declareApplication has an application for a directory of the demo repository, which may not be there.
export async function declareApplication(name: string, path: string, { automated, labels }: More = {}): Promise<void> {
  await api("POST", applications(), {
    resource: {
      apiVersion: "argoproj.io/v1alpha1",
      kind: "Application",
      metadata: {
        name,
        namespace: stack().namespace,
        finalizers: ["resources-finalizer.argocd.argoproj.io"],
        ...(labels && { labels }),
      },
      spec: {
        project: "default",
        source: { repoURL: stack().repository, path, targetRevision: "main" },
        destination: { server: "https://kubernetes.default.svc", namespace: name },
        syncPolicy: { syncOptions: ["CreateNamespace=true"], ...(automated && { automated: {} }) },
      },
    },
  });
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
