import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "@playwright/test";
import { api } from "./api";
import { kube } from "./kube";
import { ended, type Server } from "./server";
import { repositoryRoot, stack } from "./stack";

// Agent is one that runs beside the stack's until stop.
export interface Agent {
  stop: () => Promise<void>;
}

// startAgent runs an agent on the stack's cluster with the flags that are given, and a place of its own.
export function startAgent(dir: string, token: string, flags: string[]): Agent {
  const at = join(dir, "agent");
  mkdirSync(at, { recursive: true });
  const file = join(at, "token");
  writeFileSync(file, token, { mode: 0o600 });
  const place = ["--registration-token-file", file, "--kubeconfig", stack().kubeconfig, "--data", join(at, "data")];
  const child = spawn(join(repositoryRoot, "bin/slipway-agent"), [...flags, ...place], {
    env: { PATH: process.env.PATH, HOME: at, SLIPWAY_OUTBOUND_ALLOW: "127.0.0.0/8,::1,localhost" },
    stdio: "ignore",
  });
  return { stop: () => ended(child) };
}

// Connected is an agent of a server of a spec's own.
export interface Connected extends Agent {
  id: string;
  namespace: string;
  // leave ends its process, and back starts it again as the same agent.
  leave: () => Promise<void>;
  back: () => void;
}

// connectAgent makes an agent of a server and runs it, with a namespace of its own: the agents of one cluster share no
// Applications.
export async function connectAgent(
  server: Pick<Server, "url" | "session" | "dir">,
  name: string,
  namespace = `e2e-${name}`,
  flags: string[] = [],
): Promise<Connected> {
  await kube("POST", "/api/v1/namespaces", { metadata: { name: namespace } });
  await kube("POST", `/apis/argoproj.io/v1alpha1/namespaces/${namespace}/appprojects`, {
    apiVersion: "argoproj.io/v1alpha1",
    kind: "AppProject",
    metadata: { name: "default", namespace },
    spec: { sourceRepos: ["*"], destinations: [{ server: "*", namespace: "*" }] },
  });
  const made = await api<{ token: string; agent: { id: string } }>("POST", "/api/v1/agents", { name }, server.session);
  const own = ["--server", server.url, "--namespace", namespace, "--installation-id", namespace, ...flags];
  const start = () => startAgent(server.dir, made.token, own);
  let agent = start();
  const { id } = made.agent;
  const state = async () =>
    (await api<{ status: { state: string } }>("GET", `/api/v1/agents/${id}`, undefined, server.session)).status.state;
  const stop = async () => {
    await agent.stop();
    await kube("DELETE", `/api/v1/namespaces/${namespace}`);
  };
  try {
    await expect.poll(state, { message: "the agent is connected", timeout: 60_000 }).toBe("Connected");
    const back = () => void (agent = start());
    return { stop, id, namespace, leave: () => agent.stop(), back };
  } catch (error) {
    await stop();
    throw error;
  }
}
