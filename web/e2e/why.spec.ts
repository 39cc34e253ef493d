import { api } from "./support/api";
import { addressOf, commitTo, createApplication, pathOf, refresh, stateOf } from "./support/application";
import { expect, expectAccessible, test } from "./support/test";

// One application with a Deployment whose image cannot be pulled, as what plays the kubelet here says.
const name = `broken-${Date.now().toString(36)}`;

const deployment = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web, devcluster/outcome: unready}}
    spec: {containers: [{name: web, image: "registry.invalid/web:1.3"}]}
`;
const service = `apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: wbe}, ports: [{port: 80}]}
`;

test.describe.configure({ mode: "serial" });

test.beforeAll(async () => {
  await createApplication(name, { "web.yaml": deployment, "service.yaml": service });
  await expect.poll(() => stateOf(name)).toBe("OutOfSync Missing");
  await api("POST", `${pathOf(name)}/sync`, {});
  await expect.poll(() => stateOf(name)).toBe("Synced Progressing Succeeded");
});

test("the container that fails is named while the application is progressing, with what shows it", async ({ page }) => {
  await page.goto(`${addressOf(name)}/why`);
  const title = page.getByRole("heading", {
    level: 2,
    name: /^Container web of Pod .+ cannot start: image registry\.invalid/,
  });
  await expect(title).toBeVisible();
  await expect(page.getByRole("region", { name: "Why", exact: true })).toContainText("cannot start: image");
  const evidence = page.getByRole("list", { name: "Evidence" }).first();
  await expect(evidence).toContainText("waiting: ImagePullBackOff");
  await expect(evidence).toContainText("2 of 2 pods below it are not well");
  await expect(page.getByText(/no pod has the labels of its selector \(app=wbe\)/)).toBeVisible();
  await expectAccessible(page);
  await evidence.getByRole("link", { name: /^Pod / }).first().click();
  await expect(page).toHaveURL(/resource=/);
});

const tip = async () =>
  (await api<{ sources: { tip: string }[] }>("GET", `${pathOf(name)}/revision-status`)).sources[0]?.tip;

test("tip and compared revision are named as what they are", async ({ page }) => {
  await refresh(name);
  await page.goto(addressOf(name));
  const wants = page.getByRole("region", { name: "Desired state in Git" });
  await expect(wants).toContainText(/main/);
  await expect(wants).toContainText(/seen/);
  // Commits of other applications move the branch, and nothing of this one. Other specs may push meanwhile, too.
  const before = await tip();
  await commitTo(`${name}-other`, "Elsewhere", { "file.txt": "x" });
  await refresh("web"); // asks the repository
  await expect.poll(tip).not.toBe(before);
  await page.reload();
  await expect(wants).toContainText("Tip of main");
  await expect(wants).toContainText("the newer commits do not change the rendered manifests");
});
