import { api, createUser, signIn, type Cookie } from "./support/api";
import { stack } from "./support/stack";
import { expect, expectAccessible, test } from "./support/test";

// Somebody comes to the team: what an administrator does, and what the new one then sees. The specs follow each other.
test.describe.configure({ mode: "serial" });

const unique = Date.now().toString(36);
const user = `nora-${unique}`;
const group = `crew-${unique}`;
const role = `watcher-${unique}`;
const binding = `crew-watches-${unique}`;
const first = "only for the first time";
const own = "a horse of her very own";
const application = () => `/applications/${stack().agent}/${stack().namespace}/web`;

test.afterAll(async () => {
  for (const path of [
    `bindings/account.${binding}`,
    `roles/account.${role}`,
    `groups/account.${group}`,
    `users/${user}`,
  ]) {
    await api("DELETE", `/api/v1/${path}`);
  }
});

test("an administrator makes a user and a group", async ({ page }) => {
  await page.goto("/access");
  await expect(page).toHaveURL(/tab=users/);
  await expectAccessible(page);
  await page.getByRole("button", { name: "New user" }).first().click();
  const form = page.getByRole("dialog");
  await form.getByLabel("Name", { exact: true }).fill(user);
  await form.getByLabel("First password").fill(first);
  await expectAccessible(page);
  await form.getByRole("button", { name: "Create user" }).click();
  await expect(form).toHaveCount(0);
  await page.getByRole("searchbox", { name: "Search users" }).fill(unique);
  await expect(page.getByRole("row", { name: new RegExp(user) })).toContainText("Must change the password");

  await page.getByRole("link", { name: "Groups", exact: true }).click();
  await page.getByRole("button", { name: "New group" }).first().click();
  await form.getByLabel("Name", { exact: true }).fill(group);
  await form.getByLabel("Members").fill(user);
  await form.getByLabel("Members").press("Enter");
  await expect(form.getByRole("button", { name: `Remove ${user}` })).toBeVisible();
  await expectAccessible(page);
  await form.getByRole("button", { name: "Create group" }).click();
  await expect(form).toHaveCount(0);
});

test("and a role, and a binding that gives it to the group", async ({ page }) => {
  await page.goto("/access?tab=roles");
  await page.getByRole("button", { name: "New role" }).first().click();
  const form = page.getByRole("dialog");
  const create = form.getByRole("button", { name: "Create role" });
  await expect(create).toHaveAccessibleDescription("Choose at least one permission.");
  await form.getByLabel("Name", { exact: true }).fill(role);
  await form.getByRole("checkbox", { name: "application_view", exact: true }).check();
  await form.getByRole("checkbox", { name: "agent_view", exact: true }).check();
  await expectAccessible(page);
  await create.click();
  await expect(form).toHaveCount(0);

  await page.getByRole("link", { name: "Bindings", exact: true }).click();
  await page.getByRole("button", { name: "New binding" }).first().click();
  await form.getByLabel("Kind").selectOption("group");
  await form.getByLabel("Who").selectOption(`account.${group}`);
  await form.getByLabel("Role").selectOption(`account.${role}`);
  await form.getByLabel("Name", { exact: true }).fill(binding);
  await expectAccessible(page);
  await form.getByRole("button", { name: "Create binding" }).click();
  await expect(form).toHaveCount(0);
  await page.getByRole("searchbox", { name: "Search bindings" }).fill(unique);
  await expect(page.getByRole("row", { name: new RegExp(binding) })).toContainText(`account.${role}`);
});

test("who may what is answered with its reason, and asked again by its link", async ({ page }) => {
  await page.goto("/access?tab=can");
  await page.getByLabel("Kind").selectOption("user");
  await page.getByLabel("Who", { exact: true }).fill(user);
  await page.getByLabel("May do").selectOption("application_view");
  await page.getByRole("button", { name: "Ask" }).click();
  const answer = page.getByRole("main").getByRole("status");
  await expect(answer).toContainText("Yes");
  await expect(answer).toContainText(`binding account.${binding}`);
  await expect(answer).toContainText(`role account.${role}`);
  await expectAccessible(page);
  await page.getByLabel("May do").selectOption("application_sync");
  await page.getByLabel("With one object").fill(`${stack().agent}/${stack().namespace}/web`);
  await page.getByRole("button", { name: "Ask" }).click();
  await expect(answer).toContainText("No");
  await expect(answer).toContainText("application_sync");
  await page.reload();
  await expect(page.getByLabel("May do")).toHaveValue("application_sync");
  await expect(answer).toContainText("No");
});

test.describe("the new one", () => {
  test.use({ signedIn: false });
  let cookie: Cookie;
  let secret = "";
  // ask is how the API answers the token.
  const ask = async (path: string) =>
    (await fetch(stack().url + path, { headers: { Authorization: `Bearer ${secret}` } })).status;

  test("chooses a password of her own before anything else", async ({ page, context, complaints }) => {
    complaints.expect(/status of 401/);
    await page.goto("/profile");
    await page.getByLabel("User name").fill(user);
    await page.getByLabel("Password").fill(first);
    await page.getByRole("button", { name: "Sign in" }).click();
    await expect(page.getByRole("heading", { name: "Choose your password" })).toBeVisible();
    await expectAccessible(page);
    // No page goes on before.
    await page.goto("/applications");
    await expect(page.getByRole("heading", { name: "Choose your password" })).toBeVisible();
    await page.getByLabel("Present password").fill(first);
    await page.getByLabel("New password", { exact: true }).fill(own);
    await page.getByLabel("New password again").fill("another one entirely");
    await page.getByRole("button", { name: "Change password and continue" }).click();
    await expect(page.getByText("The passwords do not match.")).toBeVisible();
    await expectAccessible(page);
    await page.getByLabel("New password again").fill(own);
    await page.getByRole("button", { name: "Change password and continue" }).click();
    await expect(page).toHaveURL(/\/applications$/);
    await expect(page.getByRole("heading", { level: 1, name: "Applications" })).toBeVisible();
    const kept = (await context.cookies()).find((c) => c.httpOnly);
    cookie = { name: kept?.name ?? "", value: kept?.value ?? "" };
  });

  test("sees what she may not do, with the permission that is missing, and the API refuses it", async ({
    page,
    context,
  }) => {
    await signIn(context, cookie);
    await page.goto(`${application()}/why`);
    await expect(page.getByRole("heading", { level: 1, name: "web" })).toBeVisible();
    const sync = page.getByRole("button", { name: "Sync…" }).first();
    await expect(sync).toHaveAttribute("aria-disabled", "true");
    await expect(sync).toHaveAttribute("aria-description", /application_sync/);
    await page.goto("/agents");
    await expect(page.getByRole("button", { name: "Connect an agent" }).first()).toHaveAttribute(
      "aria-description",
      /agent_edit/,
    );
    await page.goto("/agents/connect");
    await expect(page.getByText("agent_edit").first()).toBeVisible();
    await expectAccessible(page);
    const base = `/api/v1/agents/${stack().agent}/applications/${stack().namespace}/web`;
    for (const [method, path, body] of [
      ["POST", `${base}/sync`, {}],
      ["DELETE", base, undefined],
      ["GET", "/api/v1/users", undefined],
      ["POST", "/api/v1/roles", { name: `own-${unique}`, permissions: ["*"] }],
    ] as const) {
      await expect(api(method, path, body, cookie)).rejects.toThrow(/: 403 /);
    }
  });

  test("makes a token that is shown once, and uses it", async ({ page, context }) => {
    await signIn(context, cookie);
    await page.goto("/profile");
    await expect(page.getByText(`account.${group}`)).toBeVisible();
    await expect(page.getByText("2 permissions")).toBeVisible();
    await expectAccessible(page);
    await page.getByRole("button", { name: "New token" }).click();
    const form = page.getByRole("dialog", { name: "New token" });
    await form.getByLabel("Name", { exact: true }).fill("laptop");
    await form.getByLabel("Ends in").selectOption("1");
    await expectAccessible(page);
    await form.getByRole("button", { name: "Create token" }).click();
    const shown = page.getByTestId("secret");
    await expect(shown).toHaveText(/^slp_/);
    await expectAccessible(page);
    secret = (await shown.textContent()) ?? "";
    expect(await ask("/api/v1/applications")).toBe(200);
    expect(await ask("/api/v1/users")).toBe(403);
    await page.getByRole("dialog").getByRole("button", { name: "Close" }).last().click();
    await expect(page.getByText(secret)).toHaveCount(0);
  });

  test("ends a token, which is never shown again", async ({ page, context }) => {
    await signIn(context, cookie);
    await page.goto("/profile");
    const tokens = page.getByRole("region", { name: "API tokens" });
    await expect(tokens.getByText("laptop")).toBeVisible();
    expect(await page.content()).not.toContain(secret);
    await tokens.getByRole("button", { name: "Delete token laptop" }).click();
    await expectAccessible(page);
    await page.getByRole("dialog").getByRole("button", { name: "Delete laptop" }).click();
    // A page behind a dialog has no regions.
    await expect(page.getByRole("dialog")).toHaveCount(0);
    await expect(tokens).toBeVisible();
    await expect(tokens.getByText("laptop")).toHaveCount(0);
    expect(await ask("/api/v1/applications")).toBe(401);
  });

  test("keeps the theme that she chose", async ({ page, context }) => {
    await signIn(context, cookie);
    await page.emulateMedia({ colorScheme: "light" });
    await page.goto("/profile");
    const html = page.locator("html");
    await expect(page.getByRole("radio", { name: "As the system" })).toBeChecked();
    await expect(html).not.toHaveClass(/dark/);
    await page.getByRole("radio", { name: "Dark" }).check();
    await expect(html).toHaveClass(/dark/);
    await expectAccessible(page);
    await page.reload();
    await expect(html).toHaveClass(/dark/);
    await expect(page.getByRole("radio", { name: "Dark" })).toBeChecked();
    await page.getByRole("radio", { name: "Light" }).check();
    await page.emulateMedia({ colorScheme: "dark" });
    await page.reload();
    await expect(html).not.toHaveClass(/dark/);
    await page.getByRole("radio", { name: "As the system" }).check();
    await expect(html).toHaveClass(/dark/);
  });
});

test("a user who is in the way of nothing is deleted, and cannot go on", async ({ page }) => {
  const name = `leaver-${unique}`;
  const session = await createUser(name, []);
  await page.goto(`/access?tab=users&open=${name}`);
  const form = page.getByRole("dialog", { name: `User ${name}` });
  await expectAccessible(page);
  await form.getByRole("button", { name: "Delete" }).click();
  const ask = page.getByRole("dialog", { name: `Delete user ${name}` });
  await expectAccessible(page);
  await ask.getByRole("button", { name: `Delete ${name}` }).click();
  await expect(ask).toHaveCount(0);
  await expect(form).toHaveCount(0);
  await expect(api("GET", "/api/v1/session", undefined, session)).rejects.toThrow(/: 401 /);
});
