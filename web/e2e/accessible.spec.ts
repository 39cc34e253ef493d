import type { Page } from "@playwright/test";
import { type Filled, fill } from "./screenshots/demo";
import { type Picture, pictures } from "./screenshots/pages";
import { addressOf, shown } from "./screenshots/take";
import { signIn } from "./support/api";
import { expect, expectAccessible, test } from "./support/test";

// Every page that pictures are made of, and so each tab and each main dialog, light and dark.
test.describe.configure({ timeout: 180_000 });
// What fades in has other colours meanwhile.
test.use({ contextOptions: { reducedMotion: "reduce" } });

let filled: Filled;

test.beforeAll(async () => {
  filled = await fill();
});

async function look(page: Page, picture: Picture): Promise<void> {
  const address = addressOf(picture, filled);
  if (address === undefined) {
    return; // the demo has no such thing
  }
  await page.emulateMedia({ colorScheme: "light" });
  await page.goto(address);
  await shown(page);
  await picture.open?.(page);
  await shown(page);
  await expectAccessible(page, picture.name);
  // Only the colours are others then.
  await page.emulateMedia({ colorScheme: "dark" });
  await expect(page.locator("html.dark")).toHaveCount(1); // the page is told later
  await expectAccessible(page, `${picture.name}, dark`, "colours");
}

const seenBy = (as: Picture["as"]) => pictures.filter((picture) => picture.as === as);
const all = seenBy(undefined);
const together = 6; // pages that share a browser: to begin one takes as long as to look at two

for (let i = 0; i < all.length; i += together) {
  const some = all.slice(i, i + together);
  test(`everybody can use ${some[0]?.name} to ${some.at(-1)?.name}`, async ({ page, complaints }) => {
    complaints.expect(/status of (404|503)/); // of what is gone, and of an agent that is away
    for (const picture of some) {
      await test.step(picture.name, () => look(page, picture));
    }
  });
}

test.describe("pages of those who may do nothing", () => {
  test.use({ signedIn: false });

  test("everybody can use them", async ({ page, context, complaints }) => {
    complaints.expect(/status of 40[134]/);
    for (const picture of seenBy("nobody")) {
      await test.step(picture.name, () => look(page, picture));
    }
    await signIn(context, filled.viewer);
    for (const picture of seenBy("viewer")) {
      await test.step(picture.name, () => look(page, picture));
    }
  });
});

// Services have a column for each environment, which may scroll on wide screens.
const tables = ["agents", "agent", "audit", "ledger", "ledger-at", "notifications-deliveries", "access", "history"];

for (const [width, names] of [
  [390, [...tables, "services", "resources-list", "fleet"]],
  [1440, [...tables, "applications", "fleet"]],
] as const) {
  test(`no table scrolls sideways at ${width} px, and none cuts a name`, async ({ page }) => {
    await page.setViewportSize({ width, height: 900 });
    for (const picture of all.filter((p) => names.includes(p.name))) {
      const address = addressOf(picture, filled);
      if (address === undefined) {
        continue;
      }
      await page.goto(address);
      await shown(page);
      const wide = await page
        .locator("main :is([role=table], [role=grid], :has(> table))")
        .evaluateAll((list) => list.filter((t) => t.scrollWidth > t.clientWidth).map((t) => t.ariaLabel ?? t.tagName));
      expect(wide, picture.name).toEqual([]);
      // A cell may cut what else it says, but not the name that it begins with: checkout-production-eu has 22 characters.
      const cut = await page.locator("main :is([role=cell], [role=gridcell]) .font-medium").evaluateAll((list) =>
        list.flatMap((name) => {
          const cell = name.closest("[role=cell], [role=gridcell]") as Element;
          const cut = name.getBoundingClientRect().right > cell.getBoundingClientRect().right;
          return cut && (name.textContent ?? "").length <= 22 ? [name.textContent] : [];
        }),
      );
      expect(cut, `${picture.name}: names that are cut`).toEqual([]);
    }
  });
}
