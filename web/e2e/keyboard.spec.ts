import type { Locator, Page } from "@playwright/test";
import { addressOf, configMap, createApplication, deleteApplication, stateOf } from "./support/application";
import { stack } from "./support/stack";
import { expect, test } from "./support/test";

// The main way without a mouse: nothing here is clicked, and the focus is nowhere lost. The specs follow each other.
test.describe.configure({ mode: "serial" });

const unique = `keys-${Date.now().toString(36)}`;
const first = `${unique}-a`;
const second = `${unique}-b`;

test.beforeAll(async () => {
  for (const name of [first, second]) {
    await createApplication(name, { "one.yaml": configMap("one", "hello"), "two.yaml": configMap("two", "hello") });
  }
  for (const name of [first, second]) {
    await expect.poll(() => stateOf(name), { timeout: 60_000 }).toContain("OutOfSync");
  }
});

test.afterAll(async () => {
  await Promise.allSettled([first, second].map(deleteApplication));
});

// expectFocus fails where the focus fell back to the page as a whole.
const expectFocus = (page: Page) =>
  expect.poll(() => page.evaluate(() => document.activeElement?.tagName), "something has the focus").not.toBe("BODY");

const hasFocus = (what: Locator) => what.evaluate((element) => element === document.activeElement);

// go presses a key until something has the focus.
async function go(page: Page, what: Locator, key = "Tab"): Promise<void> {
  await expect(what).toBeVisible();
  for (let pressed = 0; !(await hasFocus(what)); pressed++) {
    expect(pressed, `how often ${key} was pressed`).toBeLessThan(80);
    await page.keyboard.press(key);
    await expectFocus(page);
  }
}

test.describe("somebody who is not signed in", () => {
  test.use({ signedIn: false });

  test("signs in, finds an application and opens it", async ({ page, complaints }) => {
    complaints.expect(/status of 401/);
    await page.goto("/applications");
    await expect(page.getByLabel("User name")).toBeFocused();
    await page.keyboard.type(stack().user);
    await page.keyboard.press("Tab");
    await expect(page.getByLabel("Password")).toBeFocused();
    await page.keyboard.type(stack().password);
    await page.keyboard.press("Enter");
    await expect(page.getByRole("heading", { level: 1, name: "Applications" })).toBeVisible();
    await expectFocus(page);

    await page.keyboard.press("Control+k");
    const palette = page.getByRole("dialog", { name: "Find anything" });
    await expect(palette.getByRole("combobox")).toBeFocused();
    await page.keyboard.type(first);
    const found = palette.getByRole("option", { name: new RegExp(first) });
    await expect(found).toBeVisible();
    await expect(palette.getByText("Pages", { exact: true })).toHaveCount(0); // no page is called like that
    for (let pressed = 0; (await found.getAttribute("aria-selected")) !== "true"; pressed++) {
      expect(pressed, "how often the arrow key was pressed").toBeLessThan(20);
      await page.keyboard.press("ArrowDown");
    }
    await page.keyboard.press("Enter");
    await expect(page).toHaveURL(new RegExp(`${addressOf(first)}(\\?|$)`));
    await expect(page.getByRole("heading", { level: 1, name: first })).toBeVisible();
    await expect(palette).toHaveCount(0);
    await expectFocus(page);
  });
});

test("the palette that is closed gives the focus back", async ({ page }) => {
  await page.goto("/applications");
  const search = page.getByRole("searchbox", { name: "Search applications" });
  await expect(search).toBeVisible();
  await page.keyboard.press("/");
  await expect(search).toBeFocused();
  await page.keyboard.press("Control+k");
  await expect(page.getByRole("dialog", { name: "Find anything" }).getByRole("combobox")).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toHaveCount(0);
  await expect(search).toBeFocused();
  // Out of the field, where keys do something again.
  await page.keyboard.press("Escape");
  await expect(search).not.toBeFocused();
  await expectFocus(page);
  await page.keyboard.press("/");
  await expect(search).toBeFocused();
});

test("a sync is looked at, left, and asked for", async ({ page }) => {
  await page.goto(addressOf(first));
  const open = page.getByRole("button", { name: "Sync…" }).first();
  await go(page, open);
  await page.keyboard.press("Enter");
  const panel = page.getByRole("dialog", { name: `Sync ${first}` });
  await expect(panel.getByText(/It creates 3 objects/)).toBeVisible();
  expect(await panel.evaluate((dialog) => dialog.contains(document.activeElement))).toBe(true);
  await page.keyboard.press("Escape");
  await expect(panel).toHaveCount(0);
  await expect(open).toBeFocused();

  await page.keyboard.press("s");
  await expect(panel.getByText(/It creates 3 objects/)).toBeVisible();
  await go(page, panel.getByRole("button", { name: "Sync", exact: true }));
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/sync$/);
  await expect(page.locator("h1")).toContainText("Synced");
  await expectFocus(page);
});

test("its parts are reached by one key, and an object by arrow keys", async ({ page }) => {
  await page.goto(addressOf(first));
  // Its keys are there with its actions: the name is in the address, and shown before anything is read.
  await expect(page.getByRole("heading", { level: 1, name: first })).toBeVisible();
  await expect(page.getByRole("button", { name: "More" })).toBeVisible();
  for (const [key, part] of [
    ["d", "diff"],
    ["h", "history"],
    ["w", "why"],
  ] as const) {
    await page.keyboard.press(key);
    await expect(page).toHaveURL(new RegExp(`/${part}$`));
    await expectFocus(page);
  }

  await page.goto(`${addressOf(first)}?view=list`);
  const rows = page.getByRole("table", { name: "Resources" }).getByRole("row");
  const row = (name: string) => rows.filter({ hasText: new RegExp(`ConfigMap${name}`) });
  await go(page, row("one"));
  await page.keyboard.press("ArrowDown");
  await expect(row("two")).toBeFocused();
  await page.keyboard.press("Enter");
  const object = page.getByRole("dialog", { name: /two/ });
  await expect(object).toBeVisible();
  await go(page, object.getByRole("tab", { name: "Summary" }));
  await go(page, object.getByRole("tab", { name: "Live" }), "ArrowRight");
  await expect(object.getByText("greeting")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(object).toHaveCount(0);
  await expect(row("two")).toBeFocused();
});

test("rows of the list are chosen, left out and opened", async ({ page }) => {
  await page.goto("/applications?sort=name");
  const table = page.getByRole("grid", { name: "Applications" });
  const row = (name: string) => table.getByRole("row", { name: new RegExp(name) });
  await expect(table).toBeVisible();
  await page.keyboard.press("/");
  await page.keyboard.type(unique);
  await expect(table).toHaveAttribute("data-filter", unique);
  await expect(table).toHaveAttribute("data-total", "2");
  await expect(row(first)).toBeVisible();
  await page.keyboard.press("ArrowDown");
  await expect(row(first)).toBeFocused();
  await page.keyboard.press("Space");
  await expect(row(first)).toHaveAttribute("aria-selected", "true");
  await page.keyboard.press("ArrowDown");
  await expect(row(second)).toBeFocused();
  await page.keyboard.press("Shift+Space");
  await expect(row(second)).toHaveAttribute("aria-selected", "true");
  await expect(page.getByText("2 applications selected")).toBeVisible();
  await page.keyboard.press("Space");
  await expect(row(second)).toHaveAttribute("aria-selected", "false");
  await expect(page.getByText("1 application selected")).toBeVisible();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { level: 1, name: second })).toBeVisible();
  await expectFocus(page);
  await page.keyboard.press("g");
  await page.keyboard.press("a");
  await expect(page).toHaveURL(/\/applications$/);
  await expectFocus(page);
});

test("the keys are listed by one of them", async ({ page }) => {
  await page.goto(addressOf(second));
  await expect(page.getByRole("heading", { level: 1, name: second })).toBeVisible();
  const more = page.getByRole("button", { name: "Sync…" }).first();
  await go(page, more);
  await page.keyboard.press("?");
  const keys = page.getByRole("dialog", { name: "Keys" });
  await expect(keys.getByText("Find anything")).toBeVisible();
  await expect(keys.getByText("Show these keys")).toBeVisible();
  // What the page has by itself is there too.
  await expect(keys.getByText("Differences")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(keys).toHaveCount(0);
  await expect(more).toBeFocused();
});
