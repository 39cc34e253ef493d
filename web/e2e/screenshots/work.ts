import { api } from "../support/api";
import { commitTo, declareApplication, type More, pathOf } from "../support/application";

// What brings life into the demo: applications, commits to their files, and waiting for what comes of it.

export type Named = Record<string, string>;

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

// create has an application for apps/NAME of the demo repository, of the team that the pictures are about.
export const create = (
  name: string,
  environment: string,
  automated: boolean,
  { service = name, ...more }: Pick<More, "project" | "namespace"> & { service?: string } = {},
): Promise<void> =>
  declareApplication(name, {
    ...more,
    labels: { "slipway.io/service": service, "slipway.io/environment": environment, team: "storefront" },
    automated: automated && { prune: true, selfHeal: true },
  });

export const sync = (name: string, reason: string) => api("POST", `${pathOf(name)}/sync`, { reason });

// deploy commits files below apps/NAME, and has the agent look at them.
export async function deploy(name: string, message: string, files: Record<string, string | null>): Promise<void> {
  await commitTo(name, message, files);
  await api("POST", `${pathOf(name)}/refresh`, {});
}
