import { addressOf, commitTo, declareApplication, deleteApplication, stateOf } from "./support/application";
import { kube } from "./support/kube";
import { expect, test } from "./support/test";

// What comes from Git and clusters is text, whatever is in it; and what is in Secrets is nowhere.

const name = `hostile-${Date.now().toString(36)}`;
const script = "<img src=x onerror=window.owned=1><script>window.owned=1</script>";
const secret = `secret-of-${name}`;

const manifests = `apiVersion: v1
kind: ConfigMap
metadata:
  name: ${name}
  annotations:
    note: ${JSON.stringify(script)}
    link.argocd.argoproj.io/run: "javascript:window.owned=1"
data:
  page: ${JSON.stringify(script)}
---
apiVersion: v1
kind: Secret
metadata:
  name: ${name}
stringData:
  password: ${secret}
`;

test.beforeAll(async () => {
  // Its commit stays the one that it is at, whatever others push.
  const revision = await commitTo(name, `Add ${script}`, { "all.yaml": manifests });
  await declareApplication(name, {
    automated: true,
    namespace: "default",
    revision,
    info: [{ name: script, value: "javascript:window.owned=1" }],
  });
  await expect.poll(() => stateOf(name), { timeout: 60_000 }).toBe("Synced Healthy Succeeded");
  await kube("PATCH", `/api/v1/namespaces/default/secrets/${name}`, { stringData: { password: `${secret}-changed` } });
});

test.afterAll(() => deleteApplication(name));

test("nothing that Git or the cluster says runs, and no page has a secret", async ({ page }) => {
  const answers: string[] = [];
  page.on("response", (response) => {
    if (response.url().includes("/api/v1/") && !/events/.test(response.url())) {
      response.text().then(
        (text) => answers.push(text),
        () => undefined, // of a page that was left
      );
    }
  });
  for (const part of [
    "",
    `?resource=${encodeURIComponent(`/ConfigMap/default/${name}`)}`,
    `?resource=${encodeURIComponent(`/Secret/default/${name}`)}`,
    "/diff",
    "/diff?kind=drift",
    "/sync",
    "/history",
    "/why",
    "/parameters",
    "/events",
    "/settings",
  ]) {
    await page.goto(`${addressOf(name)}${part}`);
    await expect(page.locator("h1")).toBeVisible(); // by its role it is hidden behind an object that is open
    await expect(page.getByRole("status", { name: /loading|reading|asking/i })).toHaveCount(0);
    expect(await page.evaluate(() => "owned" in window)).toBe(false);
    expect(await page.locator('a[href^="javascript:" i], img[src="x"]').count()).toBe(0);
    expect(await page.content()).not.toContain(secret);
  }
  expect(answers.length).toBeGreaterThan(10);
  expect(answers.join("\n")).not.toContain(secret);
});

test("a Secret is shown without a way to edit it, and the page says what to do instead", async ({ page }) => {
  const open = async (kind: string) => {
    await page.goto(`${addressOf(name)}?resource=${encodeURIComponent(`/${kind}/default/${name}`)}&tab=live`);
    await expect(page.getByRole("dialog", { name: new RegExp(`^${name}`) }).getByText(`kind: ${kind}`)).toBeVisible();
  };
  await open("Secret");
  await expect(page.getByRole("note").filter({ hasText: "Change it in its source in Git" })).toBeVisible();
  await expect(page.getByRole("button", { name: "Edit", exact: true })).toHaveCount(0);
  await open("ConfigMap");
  await expect(page.getByRole("button", { name: "Edit", exact: true })).toBeVisible();
});

test("a change in the cluster is on the page without loading it again", async ({ page }) => {
  await page.goto(`${addressOf(name)}?view=list`);
  await expect(page.getByText(name).first()).toBeVisible();
  await expect(page.getByTestId("connection")).toHaveAttribute("data-state", "live");
  await kube("DELETE", `/api/v1/namespaces/default/configmaps/${name}`);
  await expect(page.getByText("Missing").first()).toBeVisible();
});
