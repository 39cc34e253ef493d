import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { api, createUser, signIn } from "./support/api";
import { stack } from "./support/stack";
import { expect, expectAccessible, test } from "./support/test";

const name = `made-${Date.now().toString(36)}`;

test.afterAll(async () => {
  const path = `/api/v1/agents/${stack().agent}/applications/${stack().namespace}/${name}`;
  await api("DELETE", `${path}?cascade=true`).catch(() => undefined); // not made, where the spec failed before
});

test("somebody makes an application from a directory that they found, and sees before what it deploys", async ({
  page,
}) => {
  await page.goto("/applications/new");
  await page.getByLabel("Name", { exact: true }).fill(name);
  await page.getByLabel("Repository", { exact: true }).fill(stack().repository);
  await expect(page.getByText("HEAD is main now")).toBeVisible();
  await page.getByRole("button", { name: "Browse" }).click();
  await page.getByRole("button", { name: /^apps/ }).click();
  await page.getByRole("button", { name: /^web/ }).click();
  await expect(page.getByLabel("Path", { exact: true })).toHaveValue("apps/web");
  await page.getByLabel("Namespace", { exact: true }).fill(name);
  await page.getByLabel("Create the namespace").check();
  // The form and the YAML are the same.
  await expect(page.getByRole("textbox", { name: "The application as YAML" })).toContainText("CreateNamespace=true");
  await expectAccessible(page);

  await page.getByRole("button", { name: "Preview" }).click();
  await expect(page.getByRole("heading", { name: "Preview" })).toBeVisible();
  await expect(page.getByText("It can be deployed")).toBeVisible();
  await expect(page.getByRole("button", { name: /ConfigMap/ }).first()).toBeVisible();
  // What the sync makes before all else is among what is listed.
  await expect(page.getByRole("button", { name: `Namespace ${name}` })).toBeVisible();
  await expectAccessible(page);

  await page.getByRole("button", { name: "Create", exact: true }).click();
  await expect(page).toHaveURL(new RegExp(`/applications/${stack().agent}/${stack().namespace}/${name}`));
  await expect(page.getByRole("heading", { level: 1, name })).toBeVisible();
});

test("what is wrong is said at its field and at its line, before anything is written", async ({ page, complaints }) => {
  // Chromium keeps the colour of text that is typed over, by a style of its own, which the policy stops.
  complaints.expect(/Applying inline style/);
  await page.goto("/applications/new");
  await page.getByLabel("Name", { exact: true }).fill("web");
  await page.getByLabel("Repository", { exact: true }).fill(stack().repository);
  await expect(page.getByRole("list", { name: "Problems" })).toContainText("metadata.name");

  const editor = page.getByRole("textbox", { name: "The application as YAML" });
  await editor.focus();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.type("spec: [");
  await expect(page.getByRole("alert")).toContainText("The YAML has a mistake");
  await expect(page.getByRole("button", { name: "Create", exact: true })).toBeDisabled();
});

test("a form with fields missing is not sent, and the first of them gets the focus", async ({ page }) => {
  const sent: string[] = [];
  page.on("request", (request) => request.method() === "POST" && sent.push(new URL(request.url()).pathname));
  await page.goto("/applications/new");
  const press = () => page.getByRole("button", { name: "Create", exact: true }).click();
  await press();
  const field = page.getByLabel("Name", { exact: true });
  await expect(field).toBeFocused();
  await expect(field).toHaveAccessibleDescription(/Enter a name/);
  await field.fill(`${name}-empty`);
  await press();
  await expect(page.getByLabel("Repository", { exact: true })).toBeFocused();
  await page.getByLabel("Repository", { exact: true }).fill(stack().repository);
  await press();
  await expect(page.getByLabel("Path", { exact: true })).toBeFocused();
  expect(sent.filter((path) => path.endsWith("/applications"))).toEqual([]);
});

test("who may not make applications is told which permission is missing", async ({ context, page }) => {
  const cookie = await createUser(`reader-${name}`, [{ role: "account.viewer", scope: "account" }]);
  await signIn(context, cookie);
  await page.goto("/applications/new");
  const create = page.getByRole("button", { name: "Create", exact: true });
  await expect(create).toHaveAttribute("aria-disabled", "true");
  await expect(create).toHaveAccessibleDescription(/application_edit/);
  await create.hover();
  await expect(page.getByRole("tooltip")).toContainText("application_edit");
});

test.describe("all that an Application has", () => {
  const environment = `made-in-${name}`;
  let charts: Server;
  test.beforeAll(async () => {
    const entry = (chart: string, versions: string[]) =>
      `  ${chart}:\n${versions.map((v) => `  - {apiVersion: v2, name: ${chart}, version: ${v}, urls: [${chart}-${v}.tgz]}\n`).join("")}`;
    const index = `apiVersion: v1\nentries:\n${entry("redis", ["2.1.0", "2.0.0"])}${entry("postgres", ["9.0.0"])}`;
    charts = createServer((request, response) => {
      response.writeHead(request.url === "/index.yaml" ? 200 : 404).end(index);
    }).listen(0, "127.0.0.1");
    await new Promise((resolve) => charts.once("listening", resolve));
    await api("POST", "/api/v1/environments", { name: environment, type: "PreProduction" });
  });
  test.afterAll(async () => {
    charts.close();
    await api("DELETE", `/api/v1/environments/account.${environment}?force=true`).catch(() => undefined);
  });

  test("a chart and its version are chosen from lists", async ({ page }) => {
    await page.goto("/applications/new");
    await page.getByLabel("Name", { exact: true }).fill(`${name}-chart`);
    await page.getByLabel("Deploys").selectOption("A chart");
    await page
      .getByLabel("Repository", { exact: true })
      .fill(`http://127.0.0.1:${(charts.address() as AddressInfo).port}`);
    const offered = async (label: string) => {
      const list = await page.getByLabel(label, { exact: true }).getAttribute("list");
      return page
        .locator(`datalist[id="${list}"] option`)
        .evaluateAll((all) => all.map((o) => o.getAttribute("value")));
    };
    await expect.poll(() => offered("Chart")).toEqual(["postgres", "redis"]);
    await page.getByLabel("Chart", { exact: true }).fill("redis");
    await expect.poll(() => offered("Version")).toEqual(["2.1.0", "2.0.0"]);
    await page.getByLabel("Version", { exact: true }).fill("2.0.0");
    await page.getByRole("button", { name: /^Helm settings/ }).click();
    await page.getByRole("button", { name: "Add parameter" }).click();
    const parameter = page.getByRole("group", { name: "Parameter 1" });
    await parameter.getByLabel("Name").fill("image.tag");
    await parameter.getByLabel("Value").fill("1.20");
    const yaml = page.getByRole("textbox", { name: "The application as YAML" });
    await expect(yaml).toContainText("chart: redis");
    await expect(yaml).toContainText(/targetRevision: "?2\.0\.0/);
    await expect(yaml).toContainText('value: "1.20"');
    await expectAccessible(page);
  });

  test("several sources are added and removed, and one lends its files to another", async ({ page }) => {
    await page.goto("/applications/new");
    await page.getByLabel("Name", { exact: true }).fill(`${name}-several`);
    await page.getByLabel("Repository", { exact: true }).fill(stack().repository);
    await page.getByRole("button", { name: "Add source" }).click();
    const second = page.getByRole("group", { name: /^Source 2/ });
    await second.getByLabel("Repository", { exact: true }).fill(stack().repository);
    await second.getByLabel("Deploys").selectOption("Nothing: files only");
    await second.getByLabel("Reference name").fill("shared");
    const yaml = page.getByRole("textbox", { name: "The application as YAML" });
    await expect(yaml).toContainText("ref: shared");
    await expect(yaml).toContainText("sources:");
    await expectAccessible(page);
    await second.getByRole("button", { name: "Remove source 2" }).click();
    await expect(second).toHaveCount(0);
    await expect(yaml).not.toContainText("sources:");
    await expect(page.getByLabel("Repository", { exact: true })).toHaveValue(stack().repository);
  });

  test("the YAML completes fields, and has what is wrong at its line", async ({ page }) => {
    await page.goto("/applications/new");
    await page.getByLabel("Name", { exact: true }).fill(`${name}-yaml`);
    const yaml = page.getByRole("textbox", { name: "The application as YAML" });
    await yaml.focus();
    await page.keyboard.press("ControlOrMeta+End");
    await page.keyboard.type("  revis");
    await expect(page.getByRole("option", { name: /^revisionHistoryLimit/ })).toBeVisible();
    await expect(page.getByText(/how many entries status.history keeps/)).toBeVisible();
    await page.getByRole("option", { name: /^revisionHistoryLimit/ }).click();
    await expect(yaml).toContainText("revisionHistoryLimit:");
    await page.keyboard.type("many");
    const problems = page.getByRole("list", { name: "Problems" });
    await expect(problems).toContainText(/Line 15: spec.revisionHistoryLimit: Enter an integer here, not a text/);
    // The form shows it too, and opens what it is in.
    await expect(page.getByLabel("Revision history limit")).toHaveAccessibleDescription(/Enter an integer here/);
    await page.getByLabel("Revision history limit").fill("3");
    await expect(problems).not.toContainText("revisionHistoryLimit");
    await expect(yaml).toContainText("revisionHistoryLimit: 3");
  });

  test("an application is linked to its environment as it is made", async ({ page }) => {
    const linked = `${name}-linked`;
    const path = `/api/v1/agents/${stack().agent}/applications/${stack().namespace}/${linked}`;
    await page.goto("/applications/new");
    await page.getByLabel("Name", { exact: true }).fill(linked);
    await page.getByLabel("Environment", { exact: true }).fill(`account.${environment}`);
    await page.getByLabel("Repository", { exact: true }).fill(stack().repository);
    await page.getByLabel("Path", { exact: true }).fill("apps/web");
    await page.getByLabel("Namespace", { exact: true }).fill(linked);
    await page.getByRole("button", { name: "Create", exact: true }).click();
    await expect(page.getByRole("heading", { level: 1, name: linked })).toBeVisible();
    await expect
      .poll(() => api<{ environment?: string }>("GET", `${path}/link`).then((l) => l.environment))
      .toBe(`account.${environment}`);
    await api("DELETE", `${path}?cascade=false`);
  });
});
