import { expect, type Page, test } from "@playwright/test";
import { createServer, type ViteDevServer } from "vite";
import { expectAccessible } from "./support/test";

// Pictures of every component in every state, in light and dark, and what is different on a phone. They are of the page /design,
// which is part of no build for users: the pages come from Vite, and no server is asked for anything.
//
// After a change that is meant: npx playwright test e2e/design.spec.ts --update-snapshots, and look at each picture.

const pieces = [
  "Type",
  "Colours",
  "Buttons",
  "Statuses",
  "Kinds",
  "Fields",
  "Tables",
  "Notices",
  "States",
  "Content",
  "Overlays",
];
const narrow = ["Tables", "Notices", "Content"];
const overlays: [button: string, role: "dialog" | "menu" | "list"][] = [
  ["Dialog", "dialog"],
  ["Confirmation", "dialog"],
  ["Drawer", "dialog"],
  ["Menu", "menu"],
  ["Error message", "list"],
];

// How many points may differ: edges of letters are drawn a little differently by other versions of a browser.
const budget = { maxDiffPixelRatio: 0.002 };

let vite: ViteDevServer;
let address = "";

test.beforeAll(async () => {
  vite = await createServer({
    configFile: "vite.config.ts",
    cacheDir: "node_modules/.vite-design",
    logLevel: "error",
    server: { port: 0, host: "127.0.0.1", hmr: false },
    optimizeDeps: { entries: ["index.html", "src/features/design/design.tsx"] },
  });
  await vite.listen();
  address = `${vite.resolvedUrls?.local[0]}design`;
});

test.afterAll(() => vite.close());

async function open(page: Page, colorScheme: "light" | "dark", width: number): Promise<void> {
  await page.route("**/api/v1/**", (route) => route.fulfill({ status: 401, json: {} }));
  await page.clock.setFixedTime("2026-01-01T11:00:00Z");
  await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
  await page.setViewportSize({ width, height: 900 });
  await page.goto(address);
  await expect(page.getByRole("heading", { level: 1, name: "Design" })).toBeVisible();
  // The fixed-width font is that of the machine: the one that is shipped stands for it.
  await page.addStyleTag({
    content: `:root { --font-mono: "Inter Variable"; --default-mono-font-family: "Inter Variable" }`,
  });
  await page.evaluate(async () => {
    await document.fonts.load('16px "Inter Variable"');
    await document.fonts.ready;
  });
}

for (const colorScheme of ["light", "dark"] as const) {
  test(`every component looks as its picture, ${colorScheme}`, async ({ page }) => {
    await open(page, colorScheme, 1280);
    await expectAccessible(page);
    for (const name of pieces) {
      await expect.soft(page.locator(`[data-piece="${name}"]`)).toHaveScreenshot(`${name}-${colorScheme}.png`, budget);
    }
    for (const [button, role] of overlays) {
      await page.getByRole("button", { name: button, exact: true }).click();
      const shown = role === "list" ? page.locator("[data-toasts]") : page.getByRole(role);
      await expect.soft(shown).toHaveScreenshot(`${button}-open-${colorScheme}.png`, budget);
      if (role !== "list") {
        await page.keyboard.press("Escape");
      }
    }
  });
}

test("what is different on a phone looks as its picture", async ({ page }) => {
  await open(page, "light", 390);
  for (const name of narrow) {
    await expect.soft(page.locator(`[data-piece="${name}"]`)).toHaveScreenshot(`${name}-narrow.png`, budget);
  }
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
});
