import { join } from "node:path";
import { expect, type Page, test as base } from "@playwright/test";
import { repositoryRoot } from "../support/stack";
import { type Picture, pictures } from "./pages";
import type { World } from "./world";

const out = join(repositoryRoot, ".run/screenshots");

// addressOf writes what a world has in place of the names in braces; undefined where it has no such thing.
export function addressOf(picture: Picture, world: Pick<World, "names">): string | undefined {
  let known = true;
  const address = picture.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    known &&= name in world.names;
    return world.names[name] ?? "";
  });
  return known ? address : undefined;
}

const widths = [1440, 390] as const;
const who = ["admin", "viewer", "nobody"] as const;

// Pages are those of a browser for each width and everybody who looks; they are kept, so that no page is loaded from nothing.
type Pages = Record<(typeof who)[number], Page[]>;

// shown waits until a page has read all that it needs.
export async function shown(page: Page): Promise<void> {
  await expect(page.getByRole("heading").first()).toBeVisible();
  await expect(page.locator(".skeleton")).toHaveCount(0);
}

// take makes pictures of all pages in one state of the world: light and dark, wide and narrow.
export function take(state: string, make: () => Promise<World>): void {
  const test = base.extend<object, { world: World; pages: Pages }>({
    world: [
      async ({}, use) => {
        const world = await make();
        await use(world);
        await world.stop();
      },
      { scope: "worker", timeout: 300_000 },
    ],
    pages: [
      async ({ browser, world }, use) => {
        const pages: Pages = { admin: [], viewer: [], nobody: [] };
        const cookies = { admin: world.cookies, viewer: world.viewer ?? [], nobody: [] };
        for (const one of who) {
          for (const width of widths) {
            const context = await browser.newContext({
              baseURL: world.url,
              ignoreHTTPSErrors: true,
              locale: "en-GB",
              timezoneId: "UTC",
              reducedMotion: "reduce",
              viewport: { width, height: width === 390 ? 844 : 900 },
            });
            await context.addCookies(cookies[one]);
            pages[one].push(await context.newPage());
          }
        }
        await use(pages);
      },
      { scope: "worker" },
    ],
  });
  for (const picture of pictures) {
    test(`${state}: ${picture.name}`, async ({ world, pages }) => {
      const address = addressOf(picture, world);
      const as = picture.as ?? "admin";
      test.skip(!address || (as === "viewer" && !world.viewer), `there is no such thing in ${state}`);
      for (const [i, page] of pages[as].entries()) {
        await page.emulateMedia({ colorScheme: "light" });
        await page.goto(address ?? "");
        await shown(page);
        await picture.open?.(page);
        await shown(page);
        for (const colorScheme of ["light", "dark"] as const) {
          await page.emulateMedia({ colorScheme });
          await expect(page.locator("html.dark")).toHaveCount(colorScheme === "dark" ? 1 : 0); // it is told later
          await page.screenshot({
            path: join(out, state, `${picture.name}-${colorScheme}-${widths[i]}.png`),
            animations: "disabled",
          });
        }
      }
    });
  }
}
