import { api, createUser, signIn } from "./support/api";
import { expect, expectAccessible, test } from "./support/test";

// The list of applications over the demo, whose five applications no spec changes the names of.
test("somebody finds applications, and refreshes what they have selected", async ({ page }) => {
  await page.goto("/applications");
  const grid = page.getByRole("grid", { name: "Applications" });
  await expect(grid.getByRole("link", { name: "payments", exact: true })).toBeVisible();
  await expectAccessible(page);

  await page.keyboard.press("/");
  await page.keyboard.type("payments");
  await expect(page.getByTestId("applications-table")).toHaveAttribute("data-filter", "payments");
  await expect(page).toHaveURL(/search=payments/);
  await expect(grid.getByRole("link", { name: "board", exact: true })).toHaveCount(0);

  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Space");
  const selection = page.getByRole("region", { name: "Selection" });
  await expect(selection).toContainText("1 application selected");
  await selection.getByRole("button", { name: "Refresh", exact: true }).click();
  const dialog = page.getByRole("dialog");
  await expect(dialog).toContainText("Applies to 1 application.");
  await expectAccessible(page);
  await dialog.getByLabel("Reason").fill("a look at the list");
  await dialog.getByRole("button", { name: "Refresh 1 application" }).click();

  await expect(page).toHaveURL(/job=/);
  await expect(dialog).toContainText("Refresh of 1 application");
  await expect(dialog).toContainText("1 of 1");
  await expectAccessible(page);
  await page.keyboard.press("Escape");
  await expect(dialog).toHaveCount(0);

  await page.goto("/jobs");
  await expect(page.getByRole("table", { name: "Jobs" })).toContainText("a look at the list");
  await expectAccessible(page);
});

test("a filter that nothing matches says so, and a link shows what its sender saw", async ({ page }) => {
  await page.goto("/applications?search=there-is-none-of-this&health=Degraded");
  await expect(page.getByRole("heading", { name: "No application matches" })).toBeVisible();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Remove health Degraded" }).click();
  await expect(page).not.toHaveURL(/health/);
  await page.getByRole("button", { name: "Clear the filter" }).click();
  await expect(page.getByRole("link", { name: "payments", exact: true })).toBeVisible();
});

test("a list that cannot be read says why, and is read again", async ({ page, complaints }) => {
  complaints.expect(/status of 500/);
  // Without events nothing but the button reads the list again.
  await page.route("**/api/v1/events", () => {});
  let broken = true;
  await page.route("**/api/v1/fleet/applications?*", (route) =>
    broken
      ? route.fulfill({ status: 500, json: { detail: "the database is away", requestId: "REQUEST-OF-THE-SPEC" } })
      : route.continue(),
  );
  await page.goto("/applications");
  await expect(page.getByRole("alert")).toContainText("the database is away");
  await expect(page.getByText("REQUEST-OF-THE-SPEC")).toBeVisible();
  broken = false;
  await page.getByRole("button", { name: "Try again" }).click();
  await expect(page.getByRole("link", { name: "payments", exact: true })).toBeVisible();
});

test.describe("somebody without permissions", () => {
  test.use({ signedIn: false });
  test("is told what is missing", async ({ page, context }) => {
    await signIn(context, await createUser(`list-guest-${Date.now().toString(36)}`, []));
    await page.goto("/applications");
    await expect(page.getByText("application_view")).toBeVisible();
    await page.goto("/environments");
    await expect(page.getByText("environment_view")).toBeVisible();
    await expectAccessible(page);
  });
});

test("an environment is made, and deleted again", async ({ page }) => {
  await api("DELETE", "/api/v1/environments/account.list-spec?force=true").catch(() => undefined);
  await page.goto("/environments");
  await page.getByRole("button", { name: "New environment" }).first().click();
  await page.getByRole("textbox", { name: "Name", exact: true }).fill("list-spec");
  await page.getByRole("combobox", { name: "Type" }).selectOption("Production");
  await page.getByRole("button", { name: "Create environment" }).click();
  const row = page.getByRole("row").filter({ hasText: "list-spec" });
  await expect(row).toContainText("Production");
  await row.getByRole("button", { name: "Delete list-spec" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete list-spec" }).click();
  await expect(row).toHaveCount(0);
});

test("the fleet leads to what it counts", async ({ page }) => {
  await page.goto("/");
  await expect(page.getByRole("heading", { name: "Deliveries of the last 30 days" })).toBeVisible();
  await expectAccessible(page);
  await page.getByRole("combobox", { name: "By", exact: true }).selectOption("cluster");
  await expect(page).toHaveURL(/by=cluster/);
  await page.getByRole("link", { name: /^All: .* Healthy$/ }).click();
  await expect(page).toHaveURL(/\/applications\?health=Healthy/);
});
