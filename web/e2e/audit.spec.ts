import type { Page } from "@playwright/test";
import { api } from "./support/api";
import {
  commitTo,
  configMap,
  createApplication,
  deleteApplication,
  pathOf,
  refresh,
  stateOf,
} from "./support/application";
import { stack } from "./support/stack";
import { expect, expectAccessible, test } from "./support/test";

const unique = Date.now().toString(36);
const role = `audited-${unique}`;
const name = `ledger-${unique}`;

interface Entry {
  id: number;
  action: string;
}

test.describe("the audit", () => {
  test.beforeAll(async () => {
    await api("POST", "/api/v1/roles", { name: role, permissions: ["application_view"] });
    await api("PUT", `/api/v1/roles/account.${role}`, { name: role, permissions: ["application_sync"] });
    await expect(api("DELETE", `/api/v1/roles/account.no-${role}`)).rejects.toThrow(/: 404 /);
  });

  test.afterAll(() => api("DELETE", `/api/v1/roles/account.${role}`));

  test("finds what was done by its filters, which are in the address, and shows before and after", async ({ page }) => {
    await page.goto("/audit");
    const table = page.getByRole("table", { name: "Audit" });
    await expect(table.getByRole("row").nth(1)).toBeVisible();
    await expectAccessible(page);
    await page.getByRole("searchbox", { name: "Search the audit" }).fill(role);
    await expect(page).toHaveURL(new RegExp(`q=${role}`));
    await expect(table.getByRole("row")).toHaveCount(4);
    await page.getByLabel("Outcome").selectOption("succeeded");
    await expect(page).toHaveURL(/outcome=succeeded/);
    await expect(table.getByRole("row")).toHaveCount(3);
    await page.getByLabel("Action", { exact: true }).fill("role.update");
    await page.getByLabel("Action", { exact: true }).press("Enter");
    await expect(page).toHaveURL(/action=role\.update/);
    await expect(table.getByRole("row")).toHaveCount(2);
    // A link shows what its sender saw.
    await page.reload();
    await expect(table.getByRole("row")).toHaveCount(2);
    await expect(page.getByLabel("Action", { exact: true })).toHaveValue("role.update");

    await table.getByRole("row", { name: new RegExp(role) }).press("Enter");
    const drawer = page.getByRole("dialog", { name: `role.update account.${role}` });
    await expect(drawer).toContainText(`user ${stack().user}`);
    const changed = drawer.getByRole("region", { name: "Before and after" });
    await expect(changed).toContainText("application_view");
    await expect(changed).toContainText("application_sync");
    await expectAccessible(page);
    await drawer.getByRole("button", { name: "All of this request" }).click();
    await expect(page).toHaveURL(/request=/);
    await expect(table.getByRole("row")).toHaveCount(2);
    await page.getByRole("button", { name: "Show all" }).click();
    await page.getByLabel("Outcome").selectOption("failed");
    await page.getByRole("searchbox", { name: "Search the audit" }).fill(`none-${unique}`);
    await expect(page.getByRole("heading", { name: "No entry matches" })).toBeVisible();
    await expectAccessible(page);
  });

  test("opens an entry by its number, whatever the list has", async ({ page, complaints }) => {
    const { items } = await api<{ items: Entry[] }>("GET", "/api/v1/audit?sort=id&limit=1");
    const oldest = items[0];
    await page.goto(`/audit?q=${role}&open=${oldest?.id}`);
    await expect(page.getByRole("dialog", { name: oldest?.action ?? "" })).toContainText("Outcome");
    await page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
    await expect(page).not.toHaveURL(/open=/);
    complaints.expect(/status of 404/);
    await page.goto("/audit?open=999999999");
    await expect(page.getByRole("dialog", { name: "Entry 999999999" })).toContainText("Not found");
    await expectAccessible(page);
  });

  test("is verified, with a hash to keep elsewhere", async ({ page }) => {
    await page.goto("/audit");
    await page.getByRole("button", { name: "Verify" }).click();
    await expect(page.getByRole("heading", { name: "The audit log is intact" })).toBeVisible();
    const { head } = await api<{ head: string }>("GET", "/api/v1/audit/verification");
    expect(head).toMatch(/^[0-9a-f]{64}$/);
    await expect(page.getByText(/^[0-9a-f]{64}$/)).toBeVisible();
    await expectAccessible(page);
  });
});

test.describe("the ledger", () => {
  const sync = async (reason: string) => {
    await expect.poll(() => stateOf(name)).toContain("OutOfSync");
    await api("POST", `${pathOf(name)}/sync`, { reason });
    await expect.poll(() => stateOf(name)).toBe("Synced Healthy Succeeded");
  };

  test.beforeAll(async () => {
    await createApplication(name, { "all.yaml": configMap(name, "hello") }, { namespace: "default" });
    await sync("a greeting was asked for");
    await commitTo(name, `Say goodbye in ${name}`, { "all.yaml": configMap(name, "goodbye") });
    await refresh(name);
    await sync("everybody went home");
  });

  test.afterAll(() => deleteApplication(name));

  const address = `/ledger?name=${name}`;
  const drawerOf = (page: Page) => page.getByRole("dialog", { name: `Sync of ${name}` });
  const openNewest = (page: Page) =>
    page.getByRole("table", { name: "Operations" }).getByRole("row").nth(1).press("Enter");

  test("says of an operation who wanted it and why, and what it changed", async ({ page }) => {
    await page.goto(address);
    await expect(page.getByRole("table", { name: "Operations" }).getByRole("row")).toHaveCount(3);
    await expectAccessible(page);
    await openNewest(page);
    const drawer = drawerOf(page);
    await expect(drawer).toContainText("everybody went home");
    await expect(drawer).toContainText(stack().user);
    await expect(drawer).toContainText("1 changed");
    await expectAccessible(page);

    await drawer.getByRole("link", { name: /^Changes/ }).click();
    await expect(page).toHaveURL(/part=changes/);
    await drawer
      .getByRole("button", { name: new RegExp(`ConfigMap default/${name}`) })
      .first()
      .click();
    await expect(drawer.getByText(/greeting: goodbye/)).toBeVisible();
    await expectAccessible(page);
  });

  test("has what an operation rendered, and how two of them differ", async ({ page }) => {
    await page.goto(address);
    await openNewest(page);
    const drawer = drawerOf(page);
    await drawer.getByRole("link", { name: /^Manifests/ }).click();
    await drawer.getByRole("row", { name: new RegExp(name) }).press("Enter");
    const manifest = drawer.getByRole("region", { name: `ConfigMap default/${name}` });
    await expect(manifest).toContainText("greeting: goodbye");
    await expectAccessible(page);

    await drawer.getByRole("link", { name: "Compare" }).click();
    await expect(drawer.getByText(/1 object differs, 0 alike/)).toBeVisible();
    await drawer
      .getByRole("button", { name: new RegExp(`ConfigMap default/${name}`) })
      .first()
      .click();
    await expect(drawer.getByText(/greeting: hello/)).toBeVisible();
    await expect(drawer.getByText(/greeting: goodbye/)).toBeVisible();
    await expectAccessible(page);
    // The link leads to the same comparison.
    await page.reload();
    await expect(drawer.getByText(/1 object differs, 0 alike/)).toBeVisible();
  });

  test("says what ran at a time, and what differs between two", async ({ page }) => {
    await page.goto(`/ledger?tab=at&name=${name}`);
    await expect(page.getByText(name).first()).toBeVisible();
    await expectAccessible(page);
    await page.goto(`/ledger?tab=between&name=${name}`);
    await expect(page.getByText(new RegExp(`ConfigMap default/${name}`)).first()).toBeVisible();
    await expectAccessible(page);
  });
});
