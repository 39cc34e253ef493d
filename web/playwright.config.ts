import { defineConfig } from "@playwright/test";
import { chromium } from "./e2e/support/chromium";

// What makes pictures and what measures runs when it is asked for: see the Makefile.
const pictures = Boolean(process.env.SLIPWAY_PICTURES);

// Looking at every page takes longest, and needs nothing but a demo that is filled: it comes last, at as many pages at a time as
// there are workers.
const everyPage = "accessible.spec.ts";
const specs = [
  { name: "specs", testMatch: "**/*.spec.ts", testIgnore: everyPage },
  { name: "demo", testMatch: "demo.setup.ts" },
  { name: "every-page", testMatch: everyPage, dependencies: ["demo"], fullyParallel: true },
];

export default defineConfig({
  testDir: "e2e",
  ...(pictures ? { testMatch: "**/*.pictures.ts" } : { projects: specs }),
  outputDir: "test-results",
  // Pictures of components are of Chromium alone, with the font that is shipped: they are the same on each machine.
  snapshotPathTemplate: "{testDir}/{testFileName}-pictures/{arg}{ext}",
  // Each state that pictures are made of starts what it needs by itself.
  ...(!pictures && { globalSetup: "./e2e/support/setup.ts", globalTeardown: "./e2e/support/teardown.ts" }),
  // All specs share one server, and each makes what it changes itself.
  workers: 2,
  fullyParallel: false,
  forbidOnly: Boolean(process.env.CI),
  timeout: 90_000,
  expect: { timeout: 20_000 },
  reporter: "list",
  use: {
    launchOptions: chromium,
    viewport: { width: 1440, height: 900 },
    locale: "en-GB",
    timezoneId: "UTC",
    trace: "retain-on-failure",
    screenshot: "only-on-failure",
  },
});
