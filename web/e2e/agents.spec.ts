import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Page } from "@playwright/test";
import { parseAllDocuments } from "yaml";
import { type Agent, startAgent } from "./support/agent";
import { api, signIn } from "./support/api";
import { apply, type Manifest, remove } from "./support/kube";
import { type Server, startServer } from "./support/server";
import { expect, expectAccessible, test } from "./support/test";

// From a server that knows nothing to an agent that is gone again. The specs follow each other.
test.describe.configure({ mode: "serial" });
test.use({ signedIn: false, permissions: ["clipboard-read", "clipboard-write"] });

const name = `edge-${Date.now().toString(36)}`;
const id = `account.${name}`;
let server: Server;
let agent: Agent | undefined;
// applied is what the command put into the cluster.
const applied: Manifest[] = [];

test.beforeAll(async () => {
  server = await startServer();
});

test.afterAll(async () => {
  await agent?.stop();
  await server?.stop();
  // The kinds of Argo CD are the stack's as well.
  for (const object of applied.filter((o) => o.kind === "Namespace" || o.kind.startsWith("ClusterRole"))) {
    await remove(object);
  }
});

test.beforeEach(({ context }) => signIn(context, server.session));

// kubectl is what the command would have been given.
const given = async (command: string): Promise<Manifest[]> => {
  const { stdout } = await promisify(execFile)("bash", [
    "-c",
    `kubectl() { [ "$*" = "apply -f -" ] && cat; }\n${command}`,
  ]);
  return parseAllDocuments(stdout).flatMap((document) => (document.toJS() as Manifest | null) ?? []);
};

interface Deployment extends Manifest {
  spec: { template: { spec: { containers: { args: string[] }[] } } };
}
interface Secret extends Manifest {
  stringData: { token: string };
}

// run does what the copied command says: all of it goes into the cluster. Nodes of the cluster are simulated, so the agent
// is started here with what its Deployment says.
async function run(command: string): Promise<Agent> {
  const objects = await given(command);
  for (const object of objects) {
    await apply(object);
    applied.push(object);
  }
  const deployment = objects.find((o): o is Deployment => o.kind === "Deployment");
  const secret = objects.find((o): o is Secret => o.kind === "Secret");
  const args = deployment?.spec.template.spec.containers[0]?.args ?? [];
  // What is about the container is about this machine here.
  const flags = args
    .filter((arg) => !/^--(registration-token-file|data)=/.test(arg))
    .map((arg) => arg.replace(/^(--[a-z]+-listen)=:\d+$/, "$1=127.0.0.1:0"));
  return startAgent(server.dir, secret?.stringData.token ?? "", flags);
}

async function copied(page: Page): Promise<string> {
  await page.getByRole("button", { name: "Copy: Command that installs the agent" }).click();
  return page.evaluate(() => navigator.clipboard.readText());
}

test("with nothing connected the first page says what to do next", async ({ page }) => {
  await page.goto(`${server.url}/`);
  const steps = page.getByRole("region", { name: "First steps" });
  await expect(steps.getByRole("heading", { name: "Connect an agent" })).toBeVisible();
  // What comes later says what it waits for.
  await expect(steps.getByRole("button", { name: "Create an application" })).toHaveAccessibleDescription(
    "Connect an agent first.",
  );
  await expectAccessible(page);
  for (const [path, heading] of [
    ["/agents", "No agents yet"],
    ["/applications", /./],
    ["/applications/new", /./],
  ] as const) {
    await page.goto(server.url + path);
    await expect(page.getByRole("heading", { level: 2, name: heading }).first()).toBeVisible();
    await expectAccessible(page);
  }
  await page.goto(`${server.url}/`);
  await steps.getByRole("link", { name: "Connect an agent" }).click();
  await expect(page).toHaveURL(/\/agents\/connect$/);
});

test("one command connects an agent, and the page says so when it is there", async ({ page }) => {
  await page.goto(`${server.url}/agents/connect`);
  await expectAccessible(page);
  await page.getByLabel("Name", { exact: true }).fill(name);
  await page.getByLabel("Namespace", { exact: true }).fill(name);
  // This server runs no agents itself.
  await expect(page.getByLabel("Mode").getByRole("option")).toHaveText([/own engine/, /Argo CD/]);
  await page.getByRole("button", { name: "Create agent" }).click();
  await expect(page.getByText(`Waiting for ${name} to connect.`)).toBeVisible();
  const command = page.getByLabel("Command that installs the agent", { exact: true });
  await expect(command).toContainText("kind: Deployment");
  await expectAccessible(page);
  // However narrow it is, no line goes under the button that copies it.
  const wide = page.viewportSize()!;
  await page.setViewportSize({ width: 390, height: 844 });
  const text = await command.boundingBox();
  const button = await page.getByRole("button", { name: "Copy: Command that installs the agent" }).boundingBox();
  expect(text!.x + text!.width).toBeLessThanOrEqual(button!.x);
  await page.setViewportSize(wide);

  await page.getByText("A registry of your own, a proxy, or a certificate").click();
  await page.getByLabel("Image registry").fill("registry.example.org/mirror");
  await page.getByLabel("Proxy", { exact: true }).fill("http://proxy.example.org:3128");
  await expect(command).toContainText("image: registry.example.org/mirror/");
  await expect(command).toContainText("value: http://proxy.example.org:3128");
  await page.getByRole("button", { name: "slipway", exact: true }).click();
  await expect(command).toContainText(`--namespace ${name}`);
  await expect(command).toContainText("--registry registry.example.org/mirror");
  await expectAccessible(page);
  await page.getByRole("button", { name: "helm", exact: true }).click();
  await expect(command).toContainText(`helm upgrade --install slipway-agent`);
  await page.getByLabel("Proxy", { exact: true }).fill("");
  await page.getByLabel("Image registry").fill("");
  await page.getByRole("button", { name: "kubectl", exact: true }).click();
  await expect(command).not.toContainText("proxy.example.org");
  // As many as a company has: no proxy would let an address pass that had them in it.
  const certificate = `-----BEGIN CERTIFICATE-----\n${`${"A".repeat(64)}\n`.repeat(300)}-----END CERTIFICATE-----\n`;
  const asked = page.waitForRequest((r) => r.url().includes("/manifest") && (r.postData() ?? "").includes("BEGIN"));
  const certificates = page.getByLabel("Certificates that sign the server's");
  await certificates.fill(certificate);
  expect((await asked).url().length).toBeLessThan(1_000);
  await expect(command).toContainText("BEGIN CERTIFICATE");
  await certificates.fill("");
  await expect(command).not.toContainText("BEGIN CERTIFICATE");

  agent = await run(await copied(page));
  // Nothing is loaded again.
  await expect(page.getByText(`${name} is connected`)).toBeVisible();
  await expect(page.getByText(`namespace ${name}.`)).toBeVisible();
  await expectAccessible(page);
  await page.getByRole("link", { name: "Look at the agent" }).click();
  await expect(page).toHaveURL(new RegExp(`/agents/${id}$`));
});

test("the page of an agent says how it is, and what people say of it can be changed", async ({ page }) => {
  await page.goto(`${server.url}/agents`);
  const row = page.getByRole("table", { name: "Agents" }).getByRole("row", { name: new RegExp(name) });
  await expect(row).toContainText("Connected");
  await expect(row.getByRole("link", { name: "0", exact: true })).toBeVisible();
  await expectAccessible(page);
  await row.press("Enter");
  await expect(page.getByRole("heading", { level: 1, name })).toBeVisible();
  const { status } = await api<{ status: { version: string } }>(
    "GET",
    `/api/v1/agents/${id}`,
    undefined,
    server.session,
  );
  const facts = page.getByRole("region", { name: "Now", exact: true });
  await expect(facts).toContainText(status.version);
  await expect(facts).toContainText("none: up to date");
  await expect(facts).toContainText(name);
  const parts = page.getByRole("region", { name: "Components", exact: true });
  await expect(parts.getByRole("listitem").filter({ hasText: "engine" })).toContainText("Healthy");
  await expectAccessible(page);

  await page.getByRole("button", { name: "Edit…" }).click();
  const form = page.getByRole("dialog", { name: `Edit ${name}` });
  await form.getByLabel("Description").fill("the shop at the edge");
  await form.getByRole("textbox", { name: "Labels" }).fill("region=eu");
  await form.getByLabel("Create services and environments automatically").check();
  await expectAccessible(page);
  await form.getByRole("button", { name: "Save" }).click();
  await expect(form).toHaveCount(0);
  await expect(page.getByText("the shop at the edge")).toBeVisible();
  const after = await api<object>("GET", `/api/v1/agents/${id}`, undefined, server.session);
  expect(after).toMatchObject({ labels: { region: "eu" }, autoCreate: true, status: { state: "Connected" } });
});

test("the keys of an agent are rotated, and it stays connected", async ({ page }) => {
  await page.goto(`${server.url}/agents/${id}`);
  await page.getByRole("button", { name: "More" }).click();
  await page.getByRole("menuitem", { name: "Rotate keys" }).click();
  const dialog = page.getByRole("dialog", { name: `Rotate the keys of ${name}` });
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Rotate keys" }).click();
  await expect(dialog).toHaveCount(0);
  await expect(page.getByRole("table", { name: "Commands" })).toContainText("agent.rotate");
  await expect(page.getByRole("table", { name: "Commands" })).toContainText("done");
  await expect(page.locator("header").getByText("Connected")).toBeVisible();
});

test("an agent is revoked and deleted when its name is written", async ({ page }) => {
  await page.goto(`${server.url}/agents/${id}`);
  await page.getByRole("button", { name: "More" }).click();
  await page.getByRole("menuitem", { name: "Revoke" }).click();
  const revoke = page.getByRole("dialog", { name: `Revoke ${name}` });
  const button = revoke.getByRole("button", { name: `Revoke ${name}` });
  await expect(button).toBeDisabled();
  await revoke.getByLabel(`Enter ${name} to continue`).fill(name);
  await expectAccessible(page);
  await button.click();
  await expect(page.locator("header").getByText("Revoked")).toBeVisible();

  await page.getByRole("button", { name: "More" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  const remove = page.getByRole("dialog", { name: `Delete ${name}` });
  await expect(remove).toContainText("Deployed objects stay");
  await remove.getByLabel(`Enter ${name} to continue`).fill(name);
  await expectAccessible(page);
  await remove.getByRole("button", { name: `Delete ${name}` }).click();
  await expect(page).toHaveURL(/\/agents$/);
  await expect(page.getByRole("heading", { name: "No agents yet" })).toBeVisible();
});
