import { expect, expectAccessible, test } from "./support/test";

test("an address that leads nowhere keeps the sidebar, and leads on", async ({ page }) => {
  await page.goto("/nowhere/at/all");
  await expect(page.getByRole("heading", { name: "Page not found" })).toBeVisible();
  await expect(page.getByText("/nowhere/at/all")).toBeVisible();
  await expect(page.getByRole("navigation", { name: "Pages" })).toBeVisible();
  await expectAccessible(page);
  await page.getByRole("link", { name: "All applications" }).click();
  await expect(page).toHaveURL(/\/applications$/);
});

test("where applications are held is told by the sign that held ones have everywhere", async ({ page }) => {
  await page.route("**/api/v1/fleet/matrix*", async (route) => {
    const response = await route.fetch();
    const matrix = (await response.json()) as { rows: { held: number }[] };
    matrix.rows = matrix.rows.map((row) => ({ ...row, held: 2 }));
    await route.fulfill({ response, json: matrix });
  });
  await page.goto("/");
  const held = page.getByTitle("2 held").first();
  await expect(held).toHaveText("2");
  await expect(held.getByRole("img", { name: "Held" })).toBeVisible();
  await expectAccessible(page);
});
