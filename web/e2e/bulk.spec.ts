import { api } from "./support/api";
import {
  addressOf,
  commitTo,
  configMap,
  createApplication,
  declareApplication,
  deleteApplication,
  deployment,
  pathOf,
  refresh,
  stateOf,
} from "./support/application";
import { expect, expectAccessible, test } from "./support/test";

test.describe.configure({ mode: "serial", timeout: 180_000 });

// Five applications: one that syncs, one whose directory is missing, one that waits for pods which never are ready, one that has
// its turn after these, and one that is left out.
const unique = `bulk-${Date.now().toString(36)}`;
const [good, missing, slow, late, left] = ["a", "b", "c", "d", "e"].map((letter) => `${unique}-${letter}`) as [
  string,
  string,
  string,
  string,
  string,
];

const never = deployment(slow, 1).replace("labels: { app", "labels: { devcluster/outcome: unready, app");

test.beforeAll(async () => {
  const after = configMap("after", "hello").replace(
    "metadata:\n",
    'metadata:\n  annotations: { argocd.argoproj.io/sync-wave: "1" }\n',
  );
  await Promise.all([
    declareApplication(missing),
    createApplication(slow, { "all.yaml": `${never}---\n${after}` }),
    ...[good, late, left].map((name) => createApplication(name, { "one.yaml": configMap("one", "hello") })),
  ]);
  for (const name of [good, slow, late, left]) {
    await expect.poll(() => stateOf(name)).toContain("OutOfSync");
  }
});

test.afterAll(() => Promise.all([good, missing, slow, late, left].map(deleteApplication)));

test("all that match but one are synced, and the job is stopped in the middle", async ({ page }) => {
  await page.goto(`/applications?search=${unique}`);
  const grid = page.getByRole("grid", { name: "Applications" });
  await expect(grid.getByRole("link", { name: left })).toBeVisible();
  await grid.getByRole("checkbox", { name: "Select all that match" }).check();
  const selection = page.getByRole("region", { name: "Selection" });
  await expect(selection).toContainText("All 5 applications that match");
  await grid.getByRole("checkbox", { name: `Select ${left}` }).uncheck();
  await expect(selection).toContainText("4 applications selected");
  await selection.getByRole("button", { name: "Sync", exact: true }).click();
  const dialog = page.getByRole("dialog");
  await expect(dialog).toContainText("Applies to 4 applications.");
  await expect(dialog).not.toContainText(left);
  await dialog.getByLabel("At a time").fill("1");
  await dialog.getByLabel("Reason").fill(unique);
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Sync 4 applications" }).click();

  await expect(dialog).toContainText("Sync of 4 applications");
  await expect(dialog.getByRole("img", { name: "1 done, 1 running, 1 waiting, 1 failed" })).toBeVisible();
  await dialog.getByRole("button", { name: "Stop" }).click();
  await expect(page.getByText("The job starts no further applications")).toBeVisible();
  await api("POST", `${pathOf(slow)}/terminate`, {});
  await expect(dialog.getByRole("img", { name: "1 done, 2 failed, 1 skipped" })).toBeVisible();
  await expectAccessible(page);
  expect(await stateOf(late)).toContain("OutOfSync");
  expect(await stateOf(left)).toContain("OutOfSync");
});

test("what failed is tried again", async ({ page }) => {
  await commitTo(missing, `Mend ${missing}`, { "one.yaml": configMap("one", "hello") });
  await commitTo(slow, `Mend ${slow}`, { "all.yaml": deployment(slow, 1) });
  await Promise.all([missing, slow].map(refresh));
  await page.goto("/jobs");
  await page.getByRole("row").filter({ hasText: unique }).first().press("Enter");
  const drawer = page.getByRole("dialog", { name: "Sync of 4 applications" });
  await drawer.getByRole("button", { name: /^Failed 2$/ }).click();
  const targets = drawer.getByRole("table", { name: "Applications of the job" });
  await expect(targets.getByRole("link")).toHaveCount(2);
  await expect(targets.getByRole("link", { name: missing })).toHaveAttribute("href", addressOf(missing));
  await drawer.getByRole("button", { name: "Try 2 failed applications again" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Sync 2 applications" }).click();
  const again = page.getByRole("dialog", { name: "Sync of 2 applications" });
  await expect(again.getByRole("img", { name: "2 done" })).toBeVisible();
  await expect(again.getByRole("button", { name: /again$/ })).toHaveCount(0);
});

test("all that match but one are refreshed", async ({ page }) => {
  await commitTo(left, `Change ${left}`, { "one.yaml": configMap("one", "goodbye") });
  await page.goto(`/applications?search=${unique}`);
  const grid = page.getByRole("grid", { name: "Applications" });
  await expect(grid.getByRole("link", { name: late })).toBeVisible();
  await grid.getByRole("checkbox", { name: "Select all that match" }).check();
  await grid.getByRole("checkbox", { name: `Select ${good}` }).uncheck();
  await page.getByRole("region", { name: "Selection" }).getByRole("button", { name: "Refresh", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Refresh 4 applications" });
  await expect(dialog.getByRole("table", { name: "Applications" })).not.toContainText(good);
  await dialog.getByRole("button", { name: "Refresh 4 applications" }).click();
  const drawer = page.getByRole("dialog", { name: "Refresh of 4 applications" });
  await expect(drawer.getByRole("img", { name: "4 done" })).toBeVisible();
  await expect(drawer.getByRole("button", { name: "Stop" })).toHaveCount(0);
  await expect(drawer.getByRole("table", { name: "Applications of the job" }).getByRole("link")).toHaveCount(4);
});
