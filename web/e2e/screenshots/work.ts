import { api } from "../support/api";
import { commit, stack } from "../support/stack";

// What brings life into the demo: applications, commits to their files, and waiting for what comes of it.

export type Named = Record<string, string>;

const applications = () => `/api/v1/agents/${stack().agent}/applications`;
export const pathOf = (name: string) => `${applications()}/${stack().namespace}/${name}`;
export const pageOf = (name: string) => `/applications/${stack().agent}/${stack().namespace}/${name}`;

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

// stateAt is what the API has at a path; nothing while it has none.
async function stateAt(path: string): Promise<Named> {
  try {
    return await api<Named>("GET", path);
  } catch (error) {
    if (error instanceof Error && error.message.includes(": 404 ")) {
      return {};
    }
    throw error;
  }
}

// until waits for what an application, or an agent, says of itself.
export async function until(path: string, what: (state: Named) => boolean): Promise<void> {
  for (const end = Date.now() + 90_000; ; await pause(200)) {
    const state = await stateAt(path);
    if (what(state)) {
      return;
    }
    if (Date.now() > end) {
      throw new Error(`${path} is not what the picture is to show: ${JSON.stringify(state)}`);
    }
  }
}

interface Place {
  service?: string;
  project?: string;
  destination?: string;
}

// create has an application for apps/NAME of the demo repository, in a namespace of its own where destination names none.
export async function create(
  name: string,
  environment: string,
  automated: boolean,
  { service = name, project = "default", destination = name }: Place = {},
): Promise<void> {
  await api("POST", applications(), {
    resource: {
      apiVersion: "argoproj.io/v1alpha1",
      kind: "Application",
      metadata: {
        name,
        namespace: stack().namespace,
        labels: { "slipway.io/service": service, "slipway.io/environment": environment, team: "storefront" },
        finalizers: ["resources-finalizer.argocd.argoproj.io"],
      },
      spec: {
        project,
        source: { repoURL: stack().repository, path: `apps/${name}`, targetRevision: "main" },
        destination: { server: "https://kubernetes.default.svc", namespace: destination },
        syncPolicy: {
          syncOptions: ["CreateNamespace=true"],
          ...(automated && { automated: { prune: true, selfHeal: true } }),
        },
      },
    },
  });
}

export const sync = (name: string, reason: string) => api("POST", `${pathOf(name)}/sync`, { reason });

// deploy commits files and, where nobody does it by itself, syncs them.
export async function deploy(name: string, message: string, files: Record<string, string | null>): Promise<void> {
  await commit(message, Object.fromEntries(Object.entries(files).map(([f, text]) => [`apps/${name}/${f}`, text])));
  await api("POST", `${pathOf(name)}/refresh`, {});
}
