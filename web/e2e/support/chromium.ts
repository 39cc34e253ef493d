import { existsSync } from "node:fs";
import type { LaunchOptions } from "@playwright/test";
import { args, executablePath } from "../../scripts/chromium.mjs";

// chromium is the browser of the machine: none is downloaded.
export const chromium: LaunchOptions = { executablePath, args };

export function requireChromium(): void {
  if (!existsSync(executablePath)) {
    throw new Error(
      `Chromium is missing at ${executablePath}: install it (on Debian: apt-get install chromium), or say where it is with CHROMIUM`,
    );
  }
}
