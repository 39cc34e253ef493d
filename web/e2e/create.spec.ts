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
