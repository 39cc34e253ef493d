import { addressOf, createApplication, deleteApplication, pathOf, stateOf } from "./support/application";
import { api } from "./support/api";
import { stack } from "./support/stack";
import { expect, expectAccessible, test } from "./support/test";

// An application that makes two others, one of which makes a third.
const unique = Date.now().toString(36);
const [root, middle, leaf] = [`root-${unique}`, `middle-${unique}`, `leaf-${unique}`];

const application = (name: string) => `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: ${name}, namespace: ${stack().namespace}}
spec:
  project: default
  source: {repoURL: "${stack().repository}", path: apps/${name}, targetRevision: main}
  destination: {server: https://kubernetes.default.svc, namespace: ${name}}
  syncPolicy: {automated: {}, syncOptions: [CreateNamespace=true]}
`;
const settings = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n";

// With the first go those that it made.
test.afterAll(() => deleteApplication(root));

test("an app of apps is a tree, each with the state of its own", async ({ page }) => {
  await createApplication(leaf, { "settings.yaml": settings }, { automated: true });
  await createApplication(middle, { "leaf.yaml": application(leaf) });
  await createApplication(root, { "middle.yaml": application(middle) });
  await api("POST", `${pathOf(root)}/sync`, {});
  await expect.poll(() => stateOf(root)).toContain("Synced");
  await api("POST", `${pathOf(middle)}/sync`, {});
  await expect.poll(() => stateOf(middle)).toContain("Synced");
  await page.goto(addressOf(root));
  await page.getByRole("navigation", { name: "View" }).getByRole("link", { name: "Applications" }).click();
  const tree = page.getByRole("list", { name: `Applications of ${root}` });
  await expect(tree.getByRole("link", { name: middle })).toBeVisible();
  const below = tree.getByRole("list", { name: `Applications of ${middle}` });
  await expect(below.getByRole("listitem").filter({ hasText: leaf })).toContainText("Synced");
  await expectAccessible(page);
  await tree.getByRole("button", { name: `Applications of ${middle}` }).click();
  await expect(below).toHaveCount(0);
  await tree.getByRole("link", { name: middle }).click();
  await expect(page.getByRole("heading", { level: 1, name: middle })).toBeVisible();
});
