import { addressOf, createApplication, deleteApplication, stateOf } from "./support/application";
import { kube } from "./support/kube";
import { stack } from "./support/stack";
import { expect, expectAccessible, test } from "./support/test";

test.describe.configure({ mode: "serial" });

// Two pods of one application, which say what their annotations say; one of them ran before.
const name = `talk-${Date.now().toString(36)}`;

const pod = (key: string, metadata: string) =>
  `apiVersion: v1
kind: Pod
metadata:
  name: ${key}
${metadata}
spec:
  containers:
    - name: app
      image: registry.example/app:1
`;

const policy = () => `/api/v1/namespaces/${stack().namespace}/configmaps/slipway-agent-policy`;

// allowTerminals writes the policy of the agent, which allows no terminal where nothing is said.
async function allowTerminals(yes: boolean): Promise<void> {
  const deny = yes ? "" : "resource.terminal";
  try {
    await kube("PATCH", policy(), { data: { deny } });
  } catch (error) {
    if (!String(error).includes(": 404 ")) {
      throw error;
    }
    await kube("POST", policy().replace(/\/[^/]*$/, ""), {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "slipway-agent-policy" },
      data: { deny },
    });
  }
}

test.beforeAll(async () => {
  await createApplication(
    name,
    {
      "one.yaml": pod("one", '  annotations:\n    devcluster/log: "Error one\\nerror two"'),
      "two.yaml": pod(
        "two",
        '  labels:\n    devcluster/outcome: restarted\n  annotations:\n    devcluster/log: "calm words"\n    devcluster/previous-log: "the life before"',
      ),
    },
    { automated: true, pinned: true },
  );
  await expect.poll(() => stateOf(name)).toBe("Synced Healthy Succeeded");
});

test.afterAll(async () => {
  await allowTerminals(false);
  await deleteApplication(name);
});

test("logs of several pods show at once, and go on", async ({ page }) => {
  await page.goto(`${addressOf(name)}/logs`);
  const log = page.getByRole("log");
  await expect(log.getByText("Error one")).toBeVisible();
  await expect(log.getByText("calm words")).toBeVisible();
  await expect(log.getByText("one/app").first()).toBeVisible();
  await kube("PATCH", `/api/v1/namespaces/${name}/pods/one`, {
    metadata: { annotations: { "devcluster/log": "Error one\nerror two\nit goes on" } },
  });
  await expect(log.getByText("it goes on")).toBeVisible();
  await expectAccessible(page);
});

test("a search takes small and large letters as the same, unless they matter", async ({ page }) => {
  await page.goto(`${addressOf(name)}/logs`);
  const log = page.getByRole("log");
  await page.getByRole("searchbox", { name: "Search the log" }).fill("ERROR");
  await expect(log.locator("mark")).toHaveText(["Error", "error"]);
  await expect(log.getByText("calm words")).toHaveCount(0);
  await page.getByRole("button", { name: "Match case" }).click();
  await expect(page.getByText("No line matches.")).toBeVisible();
  await page.getByRole("searchbox", { name: "Search the log" }).fill("error");
  await expect(log.locator("mark")).toHaveText(["error"]);
});

test("the container that ran before says its last words", async ({ page }) => {
  await page.goto(`${addressOf(name)}?resource=${encodeURIComponent(`/Pod/${name}/two`)}&tab=logs`);
  const drawer = page.getByRole("dialog", { name: /^two/ });
  await expect(drawer.getByText("calm words")).toBeVisible();
  await drawer.getByRole("button", { name: "Options" }).click();
  await page.getByRole("menuitemcheckbox", { name: "The previous container" }).click();
  await expect(drawer.getByText("the life before")).toBeVisible();
});

test("a terminal that is refused says why", async ({ page }) => {
  await allowTerminals(false);
  await page.goto(`${addressOf(name)}?resource=${encodeURIComponent(`/Pod/${name}/one`)}&tab=terminal`);
  const drawer = page.getByRole("dialog", { name: /^one/ });
  await drawer.getByRole("button", { name: "Open terminal" }).click();
  await expect(drawer.getByRole("alert")).toContainText("policy");
  await expect(drawer.getByRole("alert")).toContainText("Request");
  await expectAccessible(page);
});

test("a terminal types a command and shows its answer", async ({ page }) => {
  await allowTerminals(true);
  await page.goto(`${addressOf(name)}?resource=${encodeURIComponent(`/Pod/${name}/one`)}&tab=terminal`);
  const drawer = page.getByRole("dialog", { name: /^one/ });
  const opening = drawer.getByRole("button", { name: /^Open/ });
  await opening.click();
  await expect(drawer.getByText(/^Open\. The audit log records/)).toBeVisible();
  const screen = drawer.getByRole("group", { name: "Terminal in one" });
  await page.keyboard.type("hostname\n");
  await expect(screen.locator(".xterm-rows")).toContainText("one");
  await page.keyboard.type("exit 3\n");
  await expect(drawer.getByText("The shell has ended with exit code 3.")).toBeVisible();
});
