import type { Page } from "@playwright/test";
import { api, signIn } from "./support/api";
import { type Server, startServer } from "./support/server";
import { expect, expectAccessible, test } from "./support/test";

// The banner is for the whole server: these have one of their own.
test.use({ signedIn: false });

let server: Server;

test.beforeAll(async () => {
  server = await startServer();
});

test.afterAll(() => server?.stop());

test.beforeEach(({ context }) => signIn(context, server.session));

const times = { auditRetentionDays: 365, commandRetentionDays: 30 };
const change = (more: object) => api("PUT", "/api/v1/settings", { ...times, ...more }, server.session);
const notice = (page: Page) => page.getByRole("region", { name: "Notice" });

test("a banner that is saved is on every page until a person dismisses it", async ({ page }) => {
  await change({});
  await page.goto(`${server.url}/settings`);
  await expect(notice(page)).toHaveCount(0);
  await page.getByLabel("Text").fill("Maintenance <b>on Saturday</b>");
  await page.getByLabel("Link").fill("https://status.example.org/");
  await page.getByLabel("Severity").selectOption("critical");
  await expect(page.getByRole("group", { name: "Preview" })).toContainText("Maintenance <b>on Saturday</b>");
  await page.getByRole("button", { name: "Save" }).click();
  const shown = page.locator("header + section[aria-label=Notice]");
  await expect(shown).toContainText("Maintenance <b>on Saturday</b>");
  await expect(shown.getByRole("link", { name: "Read more" })).toHaveAttribute("href", "https://status.example.org/");
  await expectAccessible(page);

  await page.goto(`${server.url}/applications`);
  await expect(notice(page)).toBeVisible();
  await notice(page).getByRole("button", { name: "Dismiss the notice" }).click();
  await expect(notice(page)).toHaveCount(0);
  await page.reload();
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  await expect(notice(page)).toHaveCount(0);

  await change({ banner: { text: "It is over" } });
  await page.reload();
  await expect(notice(page)).toContainText("It is over");
});

test("a permanent banner stays, and one that leads elsewhere is refused", async ({ page, complaints }) => {
  await change({ banner: { text: "A test system", permanent: true } });
  await page.goto(`${server.url}/settings`);
  await expect(notice(page).first()).toContainText("A test system");
  await expect(page.getByRole("button", { name: "Dismiss the notice" })).toHaveCount(0);

  complaints.expect(/status of 422/);
  await page.getByLabel("Link").fill("javascript:alert(1)");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByText("begins with https://, http:// or mailto:").first()).toBeVisible();
  await expect(page.getByLabel("Link")).toHaveAttribute("aria-invalid", "true");
});
