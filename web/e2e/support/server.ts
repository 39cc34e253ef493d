import { spawn, type ChildProcess } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Cookie, sessionOf } from "./api";
import { repositoryRoot } from "./stack";

const password = "a spare harbour with no boats";

// Server is a slipway-server of its own, with nothing in it and no agent.
export interface Server {
  url: string;
  user: string;
  password: string;
  // session is that of its first user.
  session: Cookie;
  // dir is a directory that goes with it.
  dir: string;
  // restart ends it, and has it come back at the same address with what it knew.
  restart: () => Promise<void>;
  stop: () => Promise<void>;
}

// freePort is a port of this machine that nobody listens at.
function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const listener = createServer();
    listener.on("error", reject);
    listener.listen(0, "127.0.0.1", () => {
      const address = listener.address();
      listener.close(() => resolve(typeof address === "object" && address ? address.port : 0));
    });
  });
}

// ended resolves when a process that was told to end has done so.
export function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) {
      resolve();
      return;
    }
    child.once("exit", () => resolve());
    child.kill("SIGTERM");
  });
}

// answers waits until a server that was started answers.
async function answers(url: string, child: ChildProcess): Promise<void> {
  for (const end = Date.now() + 60_000; ;) {
    const ready = await fetch(`${url}/readyz`).then(
      (answer) => answer.ok,
      () => false, // it does not listen yet
    );
    if (ready) {
      return;
    }
    if (child.exitCode !== null || Date.now() > end) {
      throw new Error(`slipway-server does not start at ${url}; run make build first`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

// startServer starts a server and waits until it answers. {dir} in a flag stands for its directory.
export async function startServer(flags: string[] = []): Promise<Server> {
  const dir = await mkdtemp(join(tmpdir(), "slipway-server-"));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const start = () =>
    spawn(
      join(repositoryRoot, "bin/slipway-server"),
      [
        `--data=${join(dir, "data")}`,
        `--listen=127.0.0.1:${port}`,
        `--public-url=${url}`,
        ...flags.map((flag) => flag.replace("{dir}", dir)),
      ],
      {
        env: { ...process.env, SLIPWAY_ADMIN_PASSWORD: password, SLIPWAY_OUTBOUND_ALLOW: "127.0.0.0/8,::1,localhost" },
        stdio: "ignore",
      },
    );
  let child = start();
  const stop = async () => {
    await ended(child);
    await rm(dir, { recursive: true, force: true });
  };
  const restart = async () => {
    await ended(child);
    child = start();
    await answers(url, child);
  };
  try {
    await answers(url, child);
    const session = await sessionOf(url, "admin", password);
    return { url, user: "admin", password, session, dir, restart, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
