import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { generateKeyPairSync } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Connected, connectAgent } from "./support/agent";
import { api, signIn } from "./support/api";
import { kube } from "./support/kube";
import { type Server, startServer } from "./support/server";
import { repositoryRoot } from "./support/stack";
import { expect, expectAccessible, test } from "./support/test";

// From a fleet without an upgrade to one that is taken back. The specs follow each other.
test.describe.configure({ mode: "serial" });
test.use({ signedIn: false });

const name = `wave-${Date.now().toString(36)}`;
const namespace = `e2e-${name}`;
const old = `registry.example.org/slipway-agent@sha256:${"a".repeat(64)}`;
const digest = `sha256:${"b".repeat(64)}`;
const fresh = `registry.example.org/slipway-agent@${digest}`;
let dir: string;
let server: Server;
let agent: Connected | undefined;

test.beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "releases-"));
  const keys = generateKeyPairSync("ed25519");
  await writeFile(join(dir, "release.pub"), keys.publicKey.export({ type: "spki", format: "pem" }));
  await writeFile(join(dir, "release.key"), keys.privateKey.export({ type: "pkcs8", format: "pem" }), { mode: 0o600 });
  server = await startServer(["--release-keys", join(dir, "release.pub")]);
});

test.afterAll(async () => {
  await agent?.stop();
  await server?.stop();
  await rm(dir, { recursive: true, force: true });
});

test.beforeEach(({ context }) => signIn(context, server.session));

interface Deployment {
  spec: { template: { spec: { containers: { image: string }[] } } };
}

const deployments = `/apis/apps/v1/namespaces/${namespace}/deployments`;

// image is what the Deployment of the agent names.
const image = async () =>
  (await kube<Deployment>("GET", `${deployments}/slipway-agent`)).spec.template.spec.containers[0]?.image;

test("without agents and upgrades, the page says how to begin", async ({ page }) => {
  await page.goto(`${server.url}/agents/upgrades`);
  await expect(page.getByRole("heading", { name: "Upgrades", level: 1 })).toBeVisible();
  await expect(page.getByText("There are no upgrades yet")).toBeVisible();
  await page.getByRole("button", { name: "Upgrade agents" }).click();
  const dialog = page.getByRole("dialog");
  await expect(dialog.getByText(/no rule says which version/)).toBeVisible();
  await expect(dialog.getByRole("button", { name: "Upgrade", exact: true })).toBeDisabled();
  await expectAccessible(page);
});

test("an upgrade shows its order, begins with the canary, and is rolled back", async ({ page }) => {
  agent = await connectAgent(server, name, namespace, ["--image", old, "--release-keys", join(dir, "release.pub")]);
  const labels = { app: "agent" };
  await kube("POST", deployments, {
    metadata: { name: "slipway-agent", namespace },
    spec: {
      replicas: 0,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: "agent", image: old }] } },
    },
  });
  await agent.leave();
  agent.back();
  const sign = [
    "agent",
    "release",
    "sign",
    "--key",
    join(dir, "release.key"),
    "--version",
    "1.4.0",
    "--digest",
    digest,
  ];
  const { stdout } = await promisify(execFile)(join(repositoryRoot, "bin/slipway"), sign);
  const statement = Buffer.from(stdout).toString("base64");
  await api("POST", "/api/v1/agent-releases", { statement }, server.session);
  const upgrades = async () =>
    (await api<{ status: { upgrades?: boolean } }>("GET", `/api/v1/agents/${agent?.id}`, undefined, server.session))
      .status.upgrades;
  await expect.poll(upgrades, { message: "the agent can upgrade itself", timeout: 60_000 }).toBe(true);

  await page.goto(`${server.url}/agents/upgrades`);
  await page.getByRole("button", { name: "Upgrade agents" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("combobox", { name: "Version" }).selectOption("1.4.0");
  await dialog.getByLabel("Reason").fill("a fix");
  await expect(dialog.getByRole("list", { name: "Order" })).toContainText("canary");
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Upgrade 1 agent" }).click();

  const drawer = page.getByRole("dialog", { name: "Upgrade to 1.4.0" });
  await expect(drawer.getByRole("list", { name: "Agents" })).toContainText(agent.id);
  await expect.poll(image, { message: "the agent changes its Deployment" }).toBe(fresh);
  await expect(drawer.getByText("the agent does not report the new image yet")).toBeVisible();
  await expectAccessible(page);
  await drawer.getByRole("button", { name: "Roll back" }).click();
  await page.getByRole("button", { name: "Roll back 1 agent" }).click();
  await expect.poll(image, { message: "the agent goes back" }).toBe(old);
  await expect(drawer.getByText(/taken back by/).first()).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("table", { name: "Upgrades" })).toContainText("1.4.0");
  await expect(page.getByRole("table", { name: "Versions of agents" })).toContainText("yes");
});
