import { api, createUser, signIn } from "./support/api";
import {
  addressOf,
  commitTo,
  configMap,
  createApplication,
  deleteApplication,
  pathOf,
  refresh,
  stateOf,
} from "./support/application";
import { kube } from "./support/kube";
import { stack } from "./support/stack";
import { expect, expectAccessible, test } from "./support/test";

// One application of this file's own, from its making to its end. The specs follow each other, as its life does.
test.describe.configure({ mode: "serial" });

const name = `life-${Date.now().toString(36)}`;
const state = () => stateOf(name);
const live = (key: string) => `/api/v1/namespaces/${name}/configmaps/${key}`;

test.beforeAll(async () => {
  await createApplication(name, { "one.yaml": configMap("one", "hello"), "two.yaml": configMap("two", "hello") });
  await expect.poll(state).toBe("OutOfSync Missing");
});

test("a sync shows what it does before, and how it goes", async ({ page }) => {
  await page.goto(addressOf(name));
  await expect(page.getByRole("heading", { level: 1, name })).toBeVisible();
  await expect(page.getByRole("region", { name: "Live state" })).toContainText("Not deployed yet");
  await page.getByRole("button", { name: "Sync…" }).click();
  const panel = page.getByRole("dialog", { name: `Sync ${name}` });
  await expect(panel.getByText(/It creates 3 objects/)).toBeVisible();
  await expect(panel.getByText(`Namespace ${name}`, { exact: true })).toBeVisible();
  await expect(panel.getByText(`ConfigMap ${name}/two`)).toBeVisible();
  await expectAccessible(page);
  await panel.getByLabel("Reason").fill("the first one");
  await panel.getByRole("button", { name: "Sync", exact: true }).click();
  await expect(page).toHaveURL(/\/sync$/);
  const steps = page.getByRole("list", { name: "Steps of the operation" });
  await expect(steps.getByText(`ConfigMap ${name}/one`)).toBeVisible();
  // What the agent says comes by itself.
  await expect(page.locator("h1")).toContainText("Synced");
  await expect(page.getByText("the first one")).toBeVisible();
  await expectAccessible(page);
});

test("the panel for a sync leaves the graph below it as it is, and no message covers a button", async ({ page }) => {
  await page.goto(addressOf(name));
  const graph = page.getByRole("application", { name: `Objects of ${name}` });
  await graph.press("-");
  const view = graph.locator(".react-flow__viewport");
  const before = (await view.getAttribute("style")) ?? "";
  await graph.evaluate((element) => element.setAttribute("data-same", "true"));
  await page.getByRole("button", { name: "Sync…" }).click();
  await expect(page.getByRole("dialog", { name: `Sync ${name}` })).toBeVisible();
  await expect(page.locator("[data-same]")).toHaveCount(1);
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toHaveCount(0);
  await expect(graph).toHaveAttribute("data-same", "true");
  await expect(view).toHaveAttribute("style", before);

  await page.getByRole("button", { name: "Refresh" }).click();
  const message = await page.locator("[data-toasts]").boundingBox();
  const main = await page.locator("#main").boundingBox();
  expect((main?.y ?? 0) + (main?.height ?? 0)).toBeLessThanOrEqual(message?.y ?? 0);
});

test("a source that cannot be read and a closed window say what is of use", async ({ page }) => {
  const broken = `${name}-broken`;
  const { namespace, agent, repository } = stack();
  const projects = `/apis/argoproj.io/v1alpha1/namespaces/${namespace}/appprojects`;
  await kube("POST", projects, {
    apiVersion: "argoproj.io/v1alpha1",
    kind: "AppProject",
    metadata: { name: broken },
    spec: {
      sourceRepos: ["*"],
      destinations: [{ server: "*", namespace: "*" }],
      syncWindows: [{ kind: "deny", schedule: "* * * * *", duration: "1h", applications: ["*"], manualSync: true }],
    },
  });
  await api("POST", `/api/v1/agents/${agent}/applications`, {
    resource: {
      apiVersion: "argoproj.io/v1alpha1",
      kind: "Application",
      metadata: { name: broken, namespace },
      spec: {
        project: broken,
        source: { repoURL: repository.replace(/demo\.git$/, "no-such-repository.git"), path: "." },
        destination: { server: "https://kubernetes.default.svc", namespace: name },
      },
    },
  });
  await page.goto(addressOf(broken));
  await expect(page.getByRole("region", { name: "Why" })).toContainText("Its source cannot be fetched");
  await expect(page.getByRole("button", { name: "Refresh", exact: true })).toHaveCount(1);
  await expect(page.getByText("No objects are known")).toBeVisible();
  await expect(page.getByText("Sync the application to create")).toHaveCount(0);
  await expect(page.getByRole("region", { name: "A sync window is closed" })).toContainText(
    `A manual sync is still possible. It stays closed until the sync windows of project ${broken} change.`,
  );
  await page.goto("about:blank"); // it would ask for what is gone
  await deleteApplication(broken);
  await kube("DELETE", `${projects}/${broken}`);
});

test("drift is shown with who made it, and is put back", async ({ page }) => {
  await kube("PATCH", live("one"), { data: { greeting: "by hand" } });
  await page.goto(`${addressOf(name)}/diff?kind=drift`);
  await expect(page.getByText("by hand").first()).toBeVisible();
  await expect(page.getByRole("region", { name: `Fields of ConfigMap ${name}/one` })).toContainText(".data.greeting");
  await expectAccessible(page);
  await page.getByRole("button", { name: "Adopt in Git…" }).click();
  await expect(page.getByRole("dialog")).toContainText("+  greeting: by hand");
  await page.getByRole("dialog").getByRole("button", { name: "Close" }).last().click();
  await page.getByRole("button", { name: "Revert all…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revert 1 object" }).click();
  await expect(page.getByText("No drift")).toBeVisible();
  const { data } = await kube<{ data: { greeting: string } }>("GET", live("one"));
  expect(data.greeting).toBe("hello");
});

test("a rollback says what it means, and holds", async ({ page }) => {
  await commitTo(name, `Break ${name}`, { "one.yaml": configMap("one", "broken") });
  await refresh(name);
  await expect.poll(state).toContain("OutOfSync");
  await api("POST", `${pathOf(name)}/sync`, {});
  await expect.poll(state).toBe("Synced Healthy Succeeded");
  await page.goto(`${addressOf(name)}/history`);
  const history = page.getByRole("table", { name: "History" });
  await expect(history.getByText(`Break ${name}`)).toBeVisible();
  await history.getByRole("button", { name: "Compare deployment 0" }).click();
  await history.getByRole("button", { name: "Compare deployment 1" }).click();
  await expect(page.getByRole("dialog", { name: /What changed/ })).toContainText("broken");
  await page.keyboard.press("Escape");
  await history.getByRole("button", { name: "Roll back to deployment 0" }).click();
  const dialog = page.getByRole("dialog", { name: `Roll ${name} back` });
  await expect(dialog).toContainText("Auto-sync is off, so there is no pin");
  await expect(dialog).toContainText(/Deployment 0, [0-9a-f]{8} \(.+\), is deployed again/);
  // What is chosen by itself is said as well; it is the first deployment, too.
  await dialog.getByLabel("Back to").selectOption("The previous deployment");
  await expect(dialog).toContainText(/Deployment 0, [0-9a-f]{8} \(.+\), is deployed again/);
  await expectAccessible(page);
  await dialog.getByLabel("Reason").fill("it is broken");
  await dialog.getByRole("button", { name: /^Roll back to/ }).click();
  await expect(page.getByRole("region", { name: /^Rolled back to deployment 0/ })).toContainText("it is broken");
  await expect
    .poll(async () => (await kube<{ data: { greeting: string } }>("GET", live("one"))).data.greeting)
    .toBe("hello");
  await page.getByRole("button", { name: "End the rollback…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "End the rollback" }).click();
  await expect(page.getByRole("region", { name: /^Rolled back to/ })).toHaveCount(0);
});

test("what a held sync would delete is confirmed by name", async ({ page }) => {
  await commitTo(name, `Empty ${name}`, { "two.yaml": null });
  const { resource } = await api<{ resource: { metadata: { annotations?: object; resourceVersion?: string } } }>(
    "GET",
    pathOf(name),
  );
  // Whatever the status became meanwhile.
  const { resourceVersion: _, ...metadata } = resource.metadata;
  await api("PUT", pathOf(name), {
    resource: {
      ...resource,
      metadata: { ...metadata, annotations: { ...metadata.annotations, "slipway.io/deletion-budget": "0" } },
    },
  });
  await page.goto(`${addressOf(name)}?panel=sync&prune=1`);
  const panel = page.getByRole("dialog", { name: `Sync ${name}` });
  await expect(panel.getByText(/The deletion guard holds it/)).toBeVisible();
  await panel.getByRole("button", { name: "Sync and delete 1 object" }).click();
  const held = page.getByText("1 of 2 objects would be deleted (limit: 0). Review and confirm.");
  await expect(held).toBeVisible();
  await expect(page.getByRole("button", { name: "Review and confirm…" })).toHaveCount(1);
  await page.getByRole("button", { name: "Review and confirm…" }).click();
  const dialog = page.getByRole("dialog", { name: "Confirm the deletions" });
  await expect(dialog.getByRole("list", { name: "Objects that are deleted" })).toContainText(`ConfigMap ${name}/two`);
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Delete 1 object" }).click();
  await expect(held).toHaveCount(0);
  await expect.poll(state).toBe("Synced Healthy Succeeded");
});

test("an edit that somebody else was faster with is a conflict, and unknown fields survive", async ({ page }) => {
  await page.goto(`${addressOf(name)}/settings`);
  const choose = async () => {
    await page.getByLabel("Create the namespace").check();
    await page.getByRole("button", { name: /^Sync options/ }).click();
    await page.getByLabel("Prune last").check();
  };
  await choose();
  const detail = await api<{ resource: { spec: object } }>("GET", pathOf(name));
  await api("PUT", pathOf(name), {
    resource: { ...detail.resource, spec: { ...detail.resource.spec, revisionHistoryLimit: 7 } },
  });
  await expect(page.getByText("You have unsaved changes.")).toBeVisible();
  await page.getByRole("button", { name: "Review and save…" }).click();
  const dialog = page.getByRole("dialog", { name: `Change ${name}` });
  await expect(dialog.getByRole("heading", { name: "Effect of a sync" })).toBeVisible();
  await expect(dialog.getByText(/^It can be deployed: 1 object/)).toBeVisible();
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect(dialog.getByRole("alert")).toContainText("Another user has changed the application");
  await dialog.getByRole("button", { name: "Reload" }).click();
  await page.getByRole("button", { name: /^History and information/ }).click();
  await expect(page.getByLabel("Revision history limit")).toHaveValue("7");
  await choose();
  await page.getByRole("button", { name: "Review and save…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
  await expect(page.getByText(`${name} was changed`)).toBeVisible();
  const saved = await api<{ resource: { spec: { revisionHistoryLimit: number; syncPolicy: object } } }>(
    "GET",
    pathOf(name),
  );
  expect(saved.resource.spec).toMatchObject({
    revisionHistoryLimit: 7,
    syncPolicy: { syncOptions: ["CreateNamespace=true", "PruneLast=true"] },
  });
  await expectAccessible(page);
});

test.describe("somebody who may only look", () => {
  test.use({ signedIn: false });

  test("is told why nothing can be done", async ({ page, context }) => {
    await signIn(context, await createUser(`look-${name}`, [{ role: "account.viewer", scope: "account" }]));
    await page.goto(`${addressOf(name)}/why`);
    await expect(page.getByRole("heading", { level: 1, name })).toBeVisible();
    const sync = page.getByRole("button", { name: "Sync…" }).first();
    await expect(sync).toHaveAttribute("aria-disabled", "true");
    await sync.hover();
    await expect(page.getByRole("tooltip")).toContainText("application_sync");
    await expectAccessible(page);
  });
});

const option = (value: string | null) =>
  kube("PATCH", live("one"), { metadata: { annotations: { "argocd.argoproj.io/sync-options": value } } });
const foreseen = () => api("DELETE", `${pathOf(name)}?cascade=true&dryRun=true`).then((c) => JSON.stringify(c));

test("what stays in the cluster is named before it is deleted", async ({ page }) => {
  await option("Delete=false");
  await expect.poll(foreseen).toContain("Delete=false");
  await page.goto(`${addressOf(name)}/settings`);
  await page.getByRole("button", { name: `Delete ${name}…` }).click();
  const dialog = page.getByRole("dialog", { name: `Delete ${name}` });
  const stay = dialog.getByRole("list", { name: "Objects that stay" });
  await expect(stay).toContainText(`ConfigMap ${name}/one: its sync options keep it`);
  await expectAccessible(page);
  await option("Delete=confirm");
  await expect.poll(foreseen).toContain("must be confirmed");
});

test("it is deleted with what it deployed, by its name, once a person confirms what asks for that", async ({
  page,
  complaints,
}) => {
  complaints.expect(/status of 404/);
  await page.goto(`${addressOf(name)}/settings`);
  await page.getByRole("button", { name: `Delete ${name}…` }).click();
  const dialog = page.getByRole("dialog", { name: `Delete ${name}` });
  await expect(dialog.getByRole("list", { name: "Objects that are deleted" })).toContainText(`ConfigMap ${name}/one`);
  const button = dialog.getByRole("button", { name: `Delete ${name}` });
  await expect(button).toBeDisabled();
  await dialog.getByLabel(`Enter ${name} to continue`).fill(name);
  await expectAccessible(page);
  await button.click();
  await expect(page).toHaveURL(/\/applications$/);
  await page.goto(addressOf(name));
  const banner = page.getByRole("region", { name: /^The deletion is held/ });
  await expect(banner).toContainText(`ConfigMap ${name}/one must be confirmed`);
  await expectAccessible(page);
  await page.getByRole("button", { name: "Review and confirm…" }).click();
  const asked = page.getByRole("dialog", { name: "Confirm the deletions" });
  await expect(asked.getByRole("list", { name: "Objects that are deleted" })).toContainText(`ConfigMap ${name}/one`);
  await asked.getByRole("button", { name: "Delete 1 object" }).click();
  await expect
    .poll(() =>
      kube("GET", live("one")).then(
        () => "there",
        () => "gone",
      ),
    )
    .toBe("gone");
  await page.goto(addressOf(name));
  await expect(page.getByText("Application not found")).toBeVisible();
  await expectAccessible(page);
});
