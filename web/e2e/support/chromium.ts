import { existsSync } from "node:fs";
import type { LaunchOptions } from "@playwright/test";

const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";

// chromium is the browser of the machine: none is downloaded.
export const chromium: LaunchOptions = {
  executablePath,
  // Its sandbox does not work for root, and /dev/shm of a container is small.
  args: process.getuid?.() === 0 ? ["--no-sandbox", "--disable-dev-shm-usage"] : ["--disable-dev-shm-usage"],
};

export function requireChromium(): void {
  if (!existsSync(executablePath)) {
    throw new Error(
      `Chromium is missing at ${executablePath}: install it (on Debian: apt-get install chromium), or say where it is with CHROMIUM`,
    );
  }
}
