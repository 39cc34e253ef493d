import { api, type Cookie, createUser, signIn } from "./support/api";
import { stack } from "./support/stack";
import { expect, expectAccessible, test } from "./support/test";

// pages are those with a list, as the sidebar groups them, and the permission without which none of it is shown.
const pages = {
  Deliver: [
    ["/", "application_view"],
    ["/applications", "application_view"],
    ["/application-sets", "applicationset_view"],
    ["/services", "service_view"],
    ["/environments", "environment_view"],
  ],
  Connect: [
    ["/clusters", "cluster_view"],
    ["/repositories", "repository_view"],
    ["/certificates", "cert_view"],
    ["/keys", "gpgkey_view"],
    ["/agents", "agent_view"],
  ],
  Govern: [
    ["/projects", "project_view"],
    ["/projects?tab=organizations", "organization_view"],
    ["/projects?tab=argo", "argoproject_view"],
    ["/audit", "audit_view"],
    ["/ledger", "application_view"],
    ["/settings", "setting_view"],
  ],
  Notifications: [
    ["/notifications?tab=rules", "notificationrule_view"],
    ["/notifications?tab=channels", "notificationchannel_view"],
    ["/notifications?tab=deliveries", "notificationrule_view"],
  ],
  Access: [
    ["/access?tab=users", "user_view"],
    ["/access?tab=groups", "group_view"],
    ["/access?tab=service-accounts", "serviceaccount_view"],
    ["/access?tab=roles", "role_view"],
    ["/access?tab=resource-groups", "resourcegroup_view"],
    ["/access?tab=bindings", "binding_view"],
  ],
} as const;

test.use({ signedIn: false });

test.describe("who may see nothing", () => {
  let nobody: Cookie;
  test.beforeAll(async () => {
    nobody = await createUser(`sees-nothing-${Date.now().toString(36)}`, []);
  });

  for (const [group, list] of Object.entries(pages)) {
    test(`is told which permission is missing, and never that there is nothing: ${group}`, async ({
      page,
      context,
    }) => {
      await signIn(context, nobody);
      for (const [path, permission] of list) {
        await test.step(path, async () => {
          await page.goto(path);
          await expect(page.getByRole("heading", { name: "You may not view this" })).toBeVisible();
          await expect(page.getByText(permission)).toBeVisible();
          await expect(page.getByRole("heading", { name: /\b(yet|no)\b/i })).toHaveCount(0);
        });
      }
    });
  }
});

test("who sees one organization is told that there may be more elsewhere", async ({ page, context }) => {
  const name = `part-${Date.now().toString(36)}`;
  await api("POST", "/api/v1/organizations", { name });
  await signIn(context, await createUser(name, [{ role: "account.viewer", scope: `org.${name}` }]));

  await page.goto("/access?tab=users");
  await expect(page.getByRole("heading", { name: "You may not view this" })).toBeVisible();
  await expect(page.getByText("user_view for the whole account")).toBeVisible();

  await page.goto("/access?tab=groups");
  await expect(page.getByRole("heading", { name: "No groups that you may view" })).toBeVisible();
  await expect(page.getByText(`group_view in org.${name} only`)).toBeVisible();

  await page.goto("/");
  await expect(page.getByText(`application_view in org.${name} only`)).toBeVisible();
});

// holding is somebody who has these permissions and no others, everywhere.
async function holding(...permissions: string[]): Promise<Cookie> {
  const name = `holds-${permissions[0]}-${Date.now().toString(36)}`.replaceAll("_", "-");
  await api("POST", "/api/v1/roles", { name, permissions });
  return createUser(name, [{ role: `account.${name}`, scope: "account" }]);
}

// What is not seen is not asked for either: the console would say that it was refused.
test("who sees no agents is told so where one would be chosen", async ({ page, context }) => {
  const types = ["application", "environment", "service", "repository"];
  await signIn(context, await holding("role_view", ...types.flatMap((type) => [`${type}_view`, `${type}_edit`])));
  await page.goto("/applications/new");
  await expect(page.getByText(/An agent must deploy it.* the permission agent_view/)).toBeVisible();

  await page.goto("/environments");
  await page.getByRole("button", { name: "New environment" }).first().click();
  const dialog = page.getByRole("dialog");
  await expect(dialog.getByText(/the permission agent_view/)).toBeVisible();
  await expect(dialog.getByText(/the permission cluster_view/)).toBeVisible();
  await expect(dialog.getByLabel("Clusters")).toHaveText("There is no other cluster that you may see");
  await expectAccessible(page);

  await page.goto("/services");
  await page.getByRole("button", { name: "Find services" }).first().click();
  await expect(dialog.getByText(/the permission agent_view/)).toBeVisible();
  await expectAccessible(page);

  await page.goto("/repositories");
  await page.getByRole("button", { name: "Add repository", exact: true }).first().click();
  await expect(dialog.getByText(/the permission agent_view/)).toBeVisible();
  await expectAccessible(page);

  await page.keyboard.press("Escape");
  await expect(dialog).toHaveCount(0);
  await page.keyboard.press("Control+k");
  await dialog.getByRole("combobox").fill("demo");
  await expect(dialog.getByText(/^Not searched: .*agents \(you need agent_view\)/)).toBeVisible();
  await expectAccessible(page);
  await page.keyboard.press("Escape");

  // They see roles, and nothing else of who may do what.
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Access" }).click();
  await expect(page).toHaveURL(/tab=roles/);
  await expect(page.getByRole("table", { name: "Roles" })).toBeVisible();
});

test("who writes an application and sees no repositories, clusters and projects is told so at each", async ({
  page,
  context,
}) => {
  await signIn(context, await holding("agent_view", "application_view", "application_edit"));
  await page.goto("/applications/new");
  await page.getByLabel("Repository", { exact: true }).fill(stack().repository);
  for (const permission of ["argoproject_view", "repository_view", "cluster_view"]) {
    await expect(page.getByText(new RegExp(`the permission ${permission}`))).toBeVisible();
  }
  await expectAccessible(page);
});

test("who sees no applications and no projects is told so where they would be counted or chosen", async ({
  page,
  context,
}) => {
  const name = `uncounted-${Date.now().toString(36)}`;
  await api("POST", "/api/v1/environments", { name, type: "PreProduction" });
  await signIn(context, await holding("environment_view", "environment_delete", "agent_view"));
  await page.goto("/environments");
  await expect(page.getByText(/The numbers of their applications.* the permission application_view/)).toBeVisible();
  const row = page.getByRole("row", { name: new RegExp(name) });
  await expect(row.getByText("?", { exact: true })).toBeVisible();
  await expectAccessible(page);
  await row.getByRole("button", { name: `Delete ${name}` }).click();
  await expect(page.getByRole("dialog").getByText(/as they are: all applications and 0 clusters/)).toBeVisible();
  await page.keyboard.press("Escape");

  await page.goto(`/agents/${stack().agent}`);
  const facts = page.getByRole("region", { name: "Now" });
  await expect(facts.getByText(/the permission application_view/)).toBeVisible();
  const mappings = page.getByRole("region", { name: "Argo project mappings" });
  await expect(mappings.getByText(/the permission argoproject_view/)).toBeVisible();
  await expect(mappings.getByText(/the permission project_view/)).toBeVisible();
  await expectAccessible(page);
});

test("a page of several parts begins with the first that may be seen", async ({ page, context }) => {
  await signIn(context, await holding("notificationchannel_view", "argoproject_view"));
  await page.goto("/");
  const sidebar = page.getByRole("navigation", { name: "Pages" });
  await sidebar.getByRole("link", { name: "Notifications" }).click();
  await expect(page).toHaveURL(/notifications\?tab=channels/);
  await sidebar.getByRole("link", { name: "Projects" }).click();
  await expect(page).toHaveURL(/projects\?tab=argo/);
  await expect(page.getByRole("table", { name: "Argo projects" })).toBeVisible();
  await expectAccessible(page);

  // A part that may not be seen says so, and stays where it is.
  await page.getByRole("navigation", { name: "Kinds" }).getByRole("link", { name: "Organizations" }).click();
  await expect(page.getByText(/the permission organization_view/)).toBeVisible();
  await expect(page).toHaveURL(/projects\?tab=organizations/);
});
