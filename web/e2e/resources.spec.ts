import { stack } from "./support/stack";
import { expect, expectAccessible, test } from "./support/test";

const address = (rest = "") => `/applications/${stack().agent}/${stack().namespace}/shop${rest}`;

test.beforeEach(({ complaints }) => complaints.expect(/404.*tree.events/s));

test("the graph is walked by keys, and opens an object", async ({ page }) => {
  await page.goto(address());
  const graph = page.getByRole("application", { name: /^Objects of shop/ });
  await expect(graph.getByText("2/2 ready").first()).toBeVisible();
  await expectAccessible(page);
  await graph.focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  const drawer = page.getByRole("dialog", { name: /^shop/ });
  await expect(drawer.getByRole("button", { name: /^ReplicaSet shop-/ })).toBeVisible();
  await expect(page).toHaveURL(/resource=apps%2FDeployment%2Fshop%2Fshop/);
  await expectAccessible(page);
  await drawer.getByRole("tab", { name: "Live" }).click();
  await expect(drawer.getByText("kind: Deployment")).toBeVisible();
  await drawer.getByRole("tab", { name: "Events" }).click();
  await expect(drawer.getByText("ScalingReplicaSet").first()).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(drawer).toBeHidden();
});

test("a filter is in the address, for each way to look", async ({ page }) => {
  await page.goto(address("?view=list&kind=Pod"));
  const table = page.getByRole("table", { name: "Resources" });
  await expect(table.getByRole("row")).toHaveCount(3);
  await expectAccessible(page);
  await page.getByRole("link", { name: "Pods", exact: true }).click();
  await expect(page.getByRole("button", { name: /^shop-.*, Healthy, Running 1\/1/ })).toHaveCount(2);
  await expectAccessible(page);
  await page.getByRole("searchbox", { name: "Search objects" }).fill("no such object");
  await expect(page.getByText("No object matches")).toBeVisible();
  await page.getByRole("button", { name: "Clear filters" }).click();
  await page.getByRole("link", { name: "Network" }).click();
  await expect(page.getByRole("application", { name: /^Traffic in shop/ })).toBeVisible();
});

test("logs of all pods show at once, and what is searched for is marked", async ({ page }) => {
  await page.goto(address("/logs"));
  const log = page.getByRole("log");
  await expect(log.getByText("started").first()).toBeVisible();
  await page.getByRole("searchbox", { name: "Search the log" }).fill("start");
  await expect(log.locator("mark").first()).toHaveText("start");
  await expectAccessible(page);
  await page.getByRole("searchbox", { name: "Search the log" }).fill("no line has this");
  await expect(page.getByText("No line matches.")).toBeVisible();
});

test("a link to an object that is gone says so", async ({ page }) => {
  await page.goto(address(`?resource=${encodeURIComponent("/Pod/shop/gone")}`));
  await expect(page.getByRole("dialog", { name: "Pod gone" })).toContainText("It was deleted in the meantime");
});
