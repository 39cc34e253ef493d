import { api } from "./support/api";
import { addressOf, createApplication, deleteApplication, deployment, pathOf, stateOf } from "./support/application";
import { commit, stack } from "./support/stack";
import { expect, expectAccessible, test } from "./support/test";

// A service from its making to its end, in two environments. The specs follow each other.
test.describe.configure({ mode: "serial" });

const unique = Date.now().toString(36);
const service = `till-${unique}`;
const staging = `staging-${unique}`;
const production = `production-${unique}`;
// Each environment has an application of its own.
const before = `till-s-${unique}`;
const after = `till-p-${unique}`;
const id = (name: string) => `account.${name}`;

const manifests = (name: string, version: string) => ({
  "app.yaml": deployment(name, 1).replace(/(image: .*):1$/m, `$1:${version}`),
});

test.beforeAll(async () => {
  test.setTimeout(240_000);
  await Promise.all(
    [before, after].map((name) => createApplication(name, manifests(name, "1.4.1"), { automated: true })),
  );
  for (const name of [before, after]) {
    await expect.poll(() => stateOf(name), { timeout: 120_000 }).toBe("Synced Healthy Succeeded");
  }
});

test.afterAll(async () => {
  await Promise.allSettled([
    ...[before, after].map(deleteApplication),
    ...[staging, production].map((name) => api("DELETE", `/api/v1/environments/${id(name)}?force=true`)),
    api("DELETE", `/api/v1/services/${id(service)}?force=true`),
  ]);
});

test("environments and a service are made by the pages", async ({ page }) => {
  await page.goto("/environments");
  const form = page.getByRole("dialog");
  const table = page.getByRole("table", { name: "Environments" });
  for (const [name, type, region] of [
    [staging, "PreProduction", ""],
    [production, "Production", "eu-north"],
  ] as const) {
    await page.getByRole("button", { name: "New environment" }).first().click();
    await form.getByLabel("Name", { exact: true }).fill(name);
    await form.getByLabel("Type").selectOption(type);
    await form.getByLabel("Region").fill(region);
    await form.getByRole("button", { name: "Create environment" }).click();
    await expect(form).toHaveCount(0);
    await expect(table.getByRole("row", { name: new RegExp(name) })).toContainText(
      type === "Production" ? "Production" : "Pre-production",
    );
  }
  await expectAccessible(page);

  await page.goto("/services");
  await page.getByRole("button", { name: "New service" }).first().click();
  await form.getByLabel("Name", { exact: true }).fill("Not a name");
  await form.getByRole("button", { name: "Create service" }).click();
  await expect(form.getByLabel("Name", { exact: true })).toBeFocused();
  await expect(form.locator("input:invalid")).toHaveCount(1);
  await expectAccessible(page);
  await form.getByLabel("Name", { exact: true }).fill(service);
  await form.getByLabel("Description").fill("takes the money");
  await form.getByRole("button", { name: "Create service" }).click();
  await expect(page).toHaveURL(new RegExp(`/services/${id(service)}$`));
  await expect(page.getByRole("heading", { level: 1, name: service })).toBeVisible();
  await expect(page.getByText("takes the money")).toBeVisible();
  await expect(page.getByText("It runs in no environment that you may view")).toBeVisible();
});

test("an application is linked on its page, and the matrix says what runs where", async ({ page }) => {
  await page.goto(`${addressOf(before)}/settings`);
  const link = page.locator("form").filter({ has: page.getByLabel("Environment", { exact: true }) });
  await link.getByLabel("Service", { exact: true }).fill(id(service));
  await link.getByLabel("Environment", { exact: true }).fill(id(staging));
  await link.getByRole("button", { name: "Link", exact: true }).click();
  await expect(link.getByText(`Now ${id(service)}, linked by hand.`)).toBeVisible();
  await expect(link.getByText(`Now ${id(staging)}, linked by hand.`)).toBeVisible();

  await page.goto(`/services?search=${service}`);
  const row = page.getByRole("row", { name: new RegExp(service) });
  const heads = page.getByRole("columnheader");
  await expect(heads).toHaveText(["Service", new RegExp(staging)]);
  await expect(row.getByRole("cell").nth(1)).toContainText("1.4.1");
  await expect(row.getByRole("cell").nth(1)).toContainText("1/1 pods");
  await expect(row.getByRole("cell").nth(1)).toContainText(/ago|now/);
  await expectAccessible(page);

  // What is linked elsewhere comes by itself, and production stands at the end.
  await api("PUT", `${pathOf(after)}/link`, { service: id(service), environment: id(production) });
  await expect(heads).toHaveText(["Service", new RegExp(staging), new RegExp(`${production}.*eu-north`)]);
  await expect(row.getByRole("cell").nth(2)).toContainText("1.4.1");
  await expect(row).not.toContainText("behind");
});

test("a new image that is synced is in the matrix without a reload, and production is behind", async ({ page }) => {
  await page.goto(`/services?search=${service}`);
  const row = page.getByRole("row", { name: new RegExp(service) });
  await expect(row.getByRole("cell").nth(1)).toContainText("1.4.1");
  // A reload would take this mark away.
  await page.evaluate(() => document.body.setAttribute("data-loaded", "once"));
  await commit(`Release ${service} 1.4.2`, { [`apps/${before}/app.yaml`]: manifests(before, "1.4.2")["app.yaml"] });
  await api("POST", `${pathOf(before)}/refresh`, {});
  await expect(row.getByRole("cell").nth(1)).toContainText("1.4.2", { timeout: 60_000 });
  await expect(row.getByRole("cell").nth(2)).toContainText("1.4.1");
  await expect(row.getByRole("cell").nth(2)).toContainText("behind 1.4.2");
  await expect(page.locator("body")).toHaveAttribute("data-loaded", "once");

  await page.getByLabel("Only services that are behind").check();
  await expect(page).toHaveURL(/drift=true/);
  await expect(row).toBeVisible();
  await row.press("Enter");
  await expect(page).toHaveURL(new RegExp(`/services/${id(service)}$`));
  const place = (name: string) =>
    page.locator("section").filter({ has: page.getByRole("heading", { level: 2, name: new RegExp(name) }) });
  await expect(place(staging)).toContainText("1.4.2");
  await expect(place(staging).getByRole("link", { name: new RegExp(before) })).toBeVisible();
  await expect(place(production)).toContainText("behind 1.4.2");
  await expect(page.getByRole("table", { name: "Operations" })).toContainText(`Release ${service} 1.4.2`);
  await expect(page.getByRole("table", { name: "Pods" })).toContainText(`${before}:1.4.2`);
  await expectAccessible(page);
});

test("who deletes a service or an environment reads before what goes and what stays", async ({ page, complaints }) => {
  // Its page may hear that it is gone before it is left, and looks.
  complaints.expect(new RegExp(`status of 404.*/services/${id(service)}\\)`));
  await page.goto(`/services/${id(service)}`);
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  const ask = page.getByRole("dialog", { name: `Delete the service ${service}` });
  await expect(ask.getByRole("list", { name: "Applications of the service" }).getByRole("listitem")).toHaveText(
    [after, before].map((name) => `${stack().agent}/${stack().namespace}/${name}`),
  );
  await expectAccessible(page);
  await ask.getByRole("button", { name: `Delete ${service}` }).click();
  await expect(page).toHaveURL(/\/services$/);
  await expect(page.getByRole("heading", { level: 1, name: "Services" })).toBeVisible();
  await expect(page.getByRole("row", { name: new RegExp(service) })).toHaveCount(0);

  await page.goto("/environments");
  await page.getByRole("button", { name: `Delete ${staging}` }).click();
  const goes = page.getByRole("dialog", { name: `Delete the environment ${staging}` });
  await expect(goes).toContainText("1 application and 0 clusters");
  await expectAccessible(page);
  await goes.getByRole("button", { name: `Delete ${staging}` }).click();
  await expect(goes).toHaveCount(0);
  await expect(page.getByRole("row", { name: new RegExp(production) })).toBeVisible();
  await expect(page.getByRole("row", { name: new RegExp(staging) })).toHaveCount(0);
  expect(await stateOf(before)).toBe("Synced Healthy Succeeded");
  const linked = await api<{ service?: string; environment?: string }>("GET", `${pathOf(before)}/link`);
  expect([linked.service, linked.environment]).not.toContain(id(service));
  expect([linked.service, linked.environment]).not.toContain(id(staging));
});
