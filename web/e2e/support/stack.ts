import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, mkdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);

export const repositoryRoot = fileURLToPath(new URL("../../../", import.meta.url));

// Stack is what `slipway up` runs: server, agent, cluster and the Git server of the demo.
export interface Stack {
  data: string;
  url: string;
  user: string;
  password: string;
  // agent is the id of the agent, namespace where its Applications are.
  agent: string;
  namespace: string;
  repository: string;
  kubeconfig: string;
}

interface Facts {
  data: string;
  kubeconfig: string;
  namespace: string;
  demoRepo: string;
  server: string;
  user: string;
  passwordFile: string;
}

let known: Stack | undefined;

// stack reads what runs in the directory SLIPWAY_UP, which the global setup sets.
export function stack(): Stack {
  if (known) {
    return known;
  }
  const data = process.env.SLIPWAY_UP;
  if (!data) {
    throw new Error("no stack runs: set SLIPWAY_UP to the directory of one, or let Playwright start it");
  }
  const facts = JSON.parse(readFileSync(join(data, "up.json"), "utf8")) as Facts;
  known = {
    data,
    url: facts.server,
    user: facts.user,
    password: readFileSync(facts.passwordFile, "utf8").trim(),
    agent: "account.demo",
    namespace: facts.namespace,
    repository: facts.demoRepo,
    kubeconfig: facts.kubeconfig,
  };
  return known;
}

async function git(dir: string, ...args: string[]): Promise<string> {
  const identity = ["-c", "user.name=e2e", "-c", "user.email=e2e@example.org", "-c", "commit.gpgsign=false"];
  const env = { PATH: process.env.PATH, HOME: dir, GIT_CONFIG_NOSYSTEM: "1", GIT_TERMINAL_PROMPT: "0" };
  const { stdout } = await run("git", [...identity, ...args], { cwd: dir, env });
  return stdout.trim();
}

// commit pushes files to the branch main of the demo repository, null for one that is to go, and returns the commit's id.
export async function commit(message: string, files: Record<string, string | null>): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "slipway-e2e-"));
  try {
    await git(dir, "clone", "--quiet", "--branch", "main", stack().repository, "repo");
    const repo = join(dir, "repo");
    for (const [name, content] of Object.entries(files)) {
      const path = join(repo, name);
      if (content === null) {
        await rm(path);
      } else {
        await mkdir(dirname(path), { recursive: true });
        await writeFile(path, content);
      }
    }
    await git(repo, "add", "--all");
    await git(repo, "commit", "--quiet", "--message", message);
    // Another spec may have pushed meanwhile.
    for (let attempt = 1; ; attempt++) {
      try {
        await git(repo, "push", "--quiet", "origin", "HEAD:main");
        return await git(repo, "rev-parse", "HEAD");
      } catch (error) {
        if (attempt === 5) {
          throw error;
        }
        await git(repo, "pull", "--quiet", "--rebase", "origin", "main");
      }
    }
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}
