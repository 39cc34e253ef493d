import { expect, expectAccessible, test } from "./support/test";

test("an address that leads nowhere keeps the sidebar, and leads on", async ({ page }) => {
  await page.goto("/nowhere/at/all");
  await expect(page.getByRole("heading", { name: "There is no such page" })).toBeVisible();
  await expect(page.getByText("/nowhere/at/all")).toBeVisible();
  await expect(page.getByRole("navigation", { name: "Pages" })).toBeVisible();
  await expectAccessible(page);
  await page.getByRole("link", { name: "All applications" }).click();
  await expect(page).toHaveURL(/\/applications$/);
});
