import { join } from "node:path";
import { repositoryRoot, stack } from "../support/stack";
import { expect, test } from "../support/test";
import { pages } from "./pages";

const out = join(repositoryRoot, ".run/screenshots");

for (const colorScheme of ["light", "dark"] as const) {
  for (const width of [1440, 390]) {
    test.describe(`${colorScheme}, ${width} pixels`, () => {
      test.use({ colorScheme, viewport: { width, height: width === 390 ? 844 : 900 } });
      for (const { name, path } of pages) {
        test(name, async ({ page, complaints }) => {
          complaints.expect(/./); // it is the look that counts here
          const { agent, namespace } = stack();
          await page.goto(path.replace("{application}", `/applications/${agent}/${namespace}/web`));
          await expect(page.getByRole("heading", { level: 1 }).first()).toBeVisible();
          await expect(page.locator("main [aria-busy=true]")).toHaveCount(0);
          await page.screenshot({ path: join(out, `${name}-${colorScheme}-${width}.png`), animations: "disabled" });
        });
      }
    });
  }
}
