import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type BrowserContext, request } from "@playwright/test";
import { type Cookie, session, signInOnce } from "../support/api";
import { ended, startServer } from "../support/server";
import setup from "../support/setup";
import { repositoryRoot, stack } from "../support/stack";
import teardown from "../support/teardown";
import { fill } from "./demo";

type Cookies = Parameters<BrowserContext["addCookies"]>[0];

// World is a server to make pictures of: where it is, who is signed in, and what addresses may name in braces.
export interface World {
  url: string;
  cookies: Cookies;
  // viewer may look, and at one project only
  viewer?: Cookies;
  names: Record<string, string>;
  stop: () => unknown;
}

async function signedIn(url: string, username: string, password: string): Promise<Cookies> {
  const browser = await request.newContext({ baseURL: url, ignoreHTTPSErrors: true });
  try {
    const answer = await browser.post("/api/v1/session", { data: { username, password } });
    if (!answer.ok()) {
      throw new Error(`sign in at ${url}: ${answer.status()} ${await answer.text()}`);
    }
    return (await browser.storageState()).cookies;
  } finally {
    await browser.dispose();
  }
}

// empty is a server on its first day.
export async function empty(): Promise<World> {
  const server = await startServer();
  return {
    url: server.url,
    cookies: await signedIn(server.url, server.user, server.password),
    names: {},
    stop: server.stop,
  };
}

// Agents, and applications of each; one more of each agent has a big tree.
const size = { agents: 20, applications: 250, big: 1000, churn: 2 };

// full is a fleet of 5,000 simulated applications.
export async function full(): Promise<World> {
  const flags = Object.entries(size).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const child = spawn(join(repositoryRoot, "bin/bench-fleet"), ["--hold", ...flags], {
    cwd: repositoryRoot,
    stdio: ["ignore", "pipe", "ignore"],
  });
  let url = "";
  for await (const line of createInterface(child.stdout)) {
    url ||= /^https?:\S+$/.exec(line)?.[0] ?? "";
    const [, username, password] = /^sign in as (\S+) with (.+)$/.exec(line) ?? [];
    if (url && username && password) {
      return {
        url,
        cookies: await signedIn(url, username, password),
        names: await namesOfFleet(url, username, password),
        stop: () => ended(child),
      };
    }
  }
  throw new Error("bench-fleet does not start: run make screenshots, which builds it");
}

async function namesOfFleet(url: string, username: string, password: string): Promise<Record<string, string>> {
  const browser = await request.newContext({ baseURL: url, ignoreHTTPSErrors: true });
  try {
    await browser.post("/api/v1/session", { data: { username, password } });
    const first = async (path: string) =>
      ((await (await browser.get(path)).json()) as { items?: Record<string, string>[] }).items?.[0];
    const big = await first("/api/v1/fleet/applications?search=big&limit=1");
    const degraded = await first("/api/v1/fleet/applications?search=shop-web&health=Degraded&limit=1");
    const agent = await first("/api/v1/agents?limit=1");
    const pageOf = (app: Record<string, string>) => `/applications/${app.agent}/${app.namespace}/${app.name}`;
    return {
      ...(big && { application: pageOf(big) }),
      ...(degraded && { degraded: pageOf(degraded) }),
      ...(agent && { agent: `/agents/${agent.id}` }),
    };
  } finally {
    await browser.dispose();
  }
}

// demo is what `slipway up` starts, with more in it: one that runs already in SLIPWAY_UP, or one of its own.
export async function demo(): Promise<World> {
  const started = !process.env.SLIPWAY_UP;
  if (started) {
    await setup();
  }
  await signInOnce(stack());
  const { names, viewer } = await fill();
  const { url } = stack();
  const asCookies = ({ name, value }: Cookie): Cookies => [{ name, value, url }];
  return { url, cookies: asCookies(session()), viewer: asCookies(viewer), names, stop: () => started && teardown() };
}
