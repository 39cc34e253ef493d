import { api, type Cookie, createUser, signIn } from "./support/api";
import { expect, test } from "./support/test";

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
          await expect(page.getByRole("heading", { name: "You may not see this" })).toBeVisible();
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
  await expect(page.getByRole("heading", { name: "You may not see this" })).toBeVisible();
  await expect(page.getByText("user_view for the whole account")).toBeVisible();

  await page.goto("/access?tab=groups");
  await expect(page.getByRole("heading", { name: "No groups that you may see" })).toBeVisible();
  await expect(page.getByText(`group_view in org.${name} only`)).toBeVisible();

  await page.goto("/");
  await expect(page.getByText(`application_view in org.${name} only`)).toBeVisible();
});
