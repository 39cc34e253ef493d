import { stack } from "./support/stack";
import { expect, expectAccessible, test } from "./support/test";

test.describe("somebody who is not signed in", () => {
  test.use({ signedIn: false });

  test("signs in and comes to the page that the link was for", async ({ page, complaints }) => {
    complaints.expect(/status of 401/);
    await page.goto("/applications?q=web");
    await expect(page.getByRole("heading", { name: "Sign in to Slipway" })).toBeVisible();
    await expectAccessible(page);
    await page.getByLabel("User name").fill(stack().user);
    await page.getByLabel("Password").fill("not the password");
    await page.getByRole("button", { name: "Sign in" }).click();
    await expect(page.getByRole("alert")).toBeVisible();
    await page.getByLabel("Password").fill(stack().password);
    await page.getByRole("button", { name: "Sign in" }).click();
    await expect(page).toHaveURL(/\/applications\?q=web$/);
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  });
});

test("a page has a policy that allows no script but ours, and violates none", async ({ page, complaints }) => {
  const response = await page.goto("/");
  const policy = response?.headers()["content-security-policy"] ?? "";
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("script-src 'self';");
  expect(policy).not.toContain("unsafe");
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();

  complaints.expect(/Executing inline script violates/);
  // What an attacker would write into a page does not run.
  const ran = await page.evaluate(() => {
    const script = document.createElement("script");
    script.textContent = "globalThis.attacked = true";
    return new Promise<boolean>((resolve) => {
      document.addEventListener("securitypolicyviolation", () => resolve("attacked" in globalThis), { once: true });
      document.head.append(script);
      if ("attacked" in globalThis) {
        resolve(true);
      }
    });
  });
  expect(ran).toBe(false);
});

test("events of the server arrive under the policy", async ({ page }) => {
  await page.goto("/applications");
  await expect(page.getByTestId("connection")).toHaveAttribute("data-state", "live");
});
