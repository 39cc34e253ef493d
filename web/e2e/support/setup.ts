import { spawnSync } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { signInOnce } from "./api";
import { requireChromium } from "./chromium";
import { repositoryRoot, stack } from "./stack";

// own is the data directory of a stack that is for the specs alone; it begins anew each time.
export const own = join(repositoryRoot, ".run/e2e");

export function slipway(...args: string[]): void {
  const bin = join(repositoryRoot, "bin");
  const env: NodeJS.ProcessEnv = { SLIPWAY_DEVCLUSTER: join(bin, "devcluster"), ...process.env };
  // The contexts of whoever runs this are theirs.
  env.SLIPWAY_CONFIG = join(own, "contexts.json");
  delete env.KUBECONFIG;
  const { status, error } = spawnSync(join(bin, "slipway"), args, { env, stdio: ["ignore", "ignore", "inherit"] });
  if (error || status !== 0) {
    throw new Error(`slipway ${args.join(" ")} failed: ${error?.message ?? `status ${status}`}; run make build first`);
  }
}

export default async function setup(): Promise<void> {
  requireChromium();
  if (!process.env.SLIPWAY_UP) {
    if (existsSync(own)) {
      slipway("down", "--data", own);
      rmSync(own, { recursive: true });
    }
    slipway("up", "--detach", "--tour=false", "--data", own);
    process.env.SLIPWAY_UP = own;
    process.env.SLIPWAY_UP_OWN = "1";
  }
  await signInOnce(stack());
}
