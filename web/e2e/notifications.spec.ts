import { createHmac } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders } from "node:http";
import { join } from "node:path";
import { type Connected, connectAgent } from "./support/agent";
import { api, signIn } from "./support/api";
import { type Server, startServer } from "./support/server";
import { commit, stack } from "./support/stack";
import { expect, expectAccessible, test } from "./support/test";

// A server of their own, which may send to this machine; its agent does what there is to tell of. The specs follow each other.
test.describe.configure({ mode: "serial" });
test.use({ signedIn: false });

const unique = Date.now().toString(36);
const name = `told-${unique}`;
const key = `key-of-${unique}`;
const directory = `apps/${name}`;

interface Message {
  headers: IncomingHttpHeaders;
  body: string;
}

// receiver takes what is sent, or says that it is down.
class Receiver {
  readonly got: Message[] = [];
  down = false;
  url = "";
  private readonly server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8");
    request.on("data", (part: string) => (body += part));
    request.on("end", () => {
      if (this.down) {
        response.writeHead(503).end();
        return;
      }
      this.got.push({ headers: request.headers, body });
      response.writeHead(204).end();
    });
  });

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.server.listen(0, "127.0.0.1", resolve));
    const address = this.server.address();
    this.url = typeof address === "object" && address ? `http://127.0.0.1:${address.port}/hook` : "";
  }

  stop(): void {
    this.server.close();
    this.server.closeAllConnections();
  }
}

let server: Server;
let agent: Connected;
const receiver = new Receiver();

interface Delivery {
  id: string;
  state: string;
  message?: string;
}

const deliveries = async () =>
  (await api<{ items: Delivery[] }>("GET", "/api/v1/notification-deliveries", undefined, server.session)).items;
const newest = async () => (await deliveries())[0];

const configMap = (greeting: string) =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\ndata:\n  greeting: ${greeting}\n`;

test.beforeAll(async () => {
  await receiver.start();
  server = await startServer(["--notify-secrets", "{dir}/secrets", "--notify-allow-private"]);
  mkdirSync(join(server.dir, "secrets"), { recursive: true });
  writeFileSync(join(server.dir, "secrets", "account.hook"), key, { mode: 0o600 });
  agent = await connectAgent(server, name);
  await commit(`Begin ${name}`, { [`${directory}/all.yaml`]: configMap("hello") });
});

test.afterAll(async () => {
  await agent?.stop();
  await server?.stop();
  receiver.stop();
});

test.beforeEach(({ context }) => signIn(context, server.session));

const address = (tab: string, rest = "") => `${server.url}/notifications?tab=${tab}${rest}`;

test("a channel is made and tried", async ({ page }) => {
  await page.goto(address("channels"));
  await expect(page.getByRole("heading", { name: "No channels yet" })).toBeVisible();
  await expectAccessible(page);
  await page.getByRole("button", { name: "New channel" }).first().click();
  const form = page.getByRole("dialog");
  await form.getByLabel("Sends to").selectOption("webhook");
  await form.getByLabel("Name of the secret").fill("hook");
  await form.getByLabel("Address").fill(receiver.url);
  await form.getByLabel("Name", { exact: true }).fill("hooks");
  await expectAccessible(page);
  await form.getByRole("button", { name: "Create channel" }).click();
  await expect(form).toHaveCount(0);
  await page.getByRole("row", { name: /hooks/ }).press("Enter");
  receiver.down = true;
  await form.getByRole("button", { name: "Send a test message" }).click();
  await expect(form.getByRole("status")).toContainText("the webhook answered with status 503");
  await expectAccessible(page);
  receiver.down = false;
  await form.getByRole("button", { name: "Send a test message" }).click();
  await expect(form.getByRole("status")).toContainText("The receiver accepted it");
  expect(receiver.got.map((m) => (JSON.parse(m.body) as { title: string }).title)).toEqual(["Slipway: a test"]);
});

test("a rule says what is told, and shows it before", async ({ page, complaints }) => {
  complaints.expect(/status of 422/);
  await page.goto(address("rules"));
  await expect(page.getByRole("heading", { name: "No rules yet" })).toBeVisible();
  await expectAccessible(page);
  await page.getByRole("button", { name: "New rule" }).first().click();
  const form = page.getByRole("dialog");
  await form.getByLabel("A sync or rollback succeeded").check();
  await form.getByLabel("Channel").selectOption("account.hooks");
  await form.getByLabel("Template of the first line").fill("{{.Name}} by {{.Nobody}}");
  await form.getByLabel("Name", { exact: true }).fill("syncs");
  await form.getByRole("button", { name: "Show what it would send" }).click();
  await expect(form.getByRole("alert")).toContainText("Nobody");
  await form.getByLabel("Template of the first line").fill("{{.Name}}: {{.What}}");
  await form.getByRole("button", { name: "Show what it would send" }).click();
  await expect(form.getByRole("alert")).toHaveCount(0);
  await expect(form.getByRole("region", { name: "Preview" })).toContainText(": ");
  await expectAccessible(page);
  await form.getByRole("button", { name: "Create rule" }).click();
  await expect(form).toHaveCount(0);
  await expect(page.getByRole("row", { name: /syncs/ })).toContainText("sync.failed, sync.succeeded");
});

test("what happens is told, and its receiver can prove whom it is from", async ({ page }) => {
  const before = receiver.got.length;
  await page.goto(address("deliveries"));
  await expect(page.getByRole("heading", { name: "No messages yet" })).toBeVisible();
  await expectAccessible(page);
  await api(
    "POST",
    `/api/v1/agents/${agent.id}/applications`,
    {
      resource: {
        apiVersion: "argoproj.io/v1alpha1",
        kind: "Application",
        metadata: { name, namespace: agent.namespace },
        spec: {
          project: "default",
          source: { repoURL: stack().repository, path: directory, targetRevision: "main" },
          destination: { server: "https://kubernetes.default.svc", namespace: agent.namespace },
          syncPolicy: { automated: {} },
        },
      },
    },
    server.session,
  );
  await expect.poll(() => receiver.got.length, { message: "a message arrives", timeout: 60_000 }).toBe(before + 1);
  const message = receiver.got.at(-1);
  const signed = createHmac("sha256", key).update(
    `${String(message?.headers["x-slipway-timestamp"])}.${message?.body}`,
  );
  expect(message?.headers["x-slipway-signature"]).toBe(`sha256=${signed.digest("hex")}`);
  expect(JSON.parse(message?.body ?? "")).toMatchObject({
    rule: "account.syncs",
    title: expect.stringMatching(new RegExp(`^${name}: `)),
    event: { event: "sync.succeeded" },
  });
  // Nothing is loaded again.
  const row = page.getByRole("row", { name: new RegExp(name) });
  await expect(row).toContainText("Sent");
  await row.press("Enter");
  await expect(page.getByRole("dialog")).toContainText(`Message ${String(message?.headers["x-slipway-delivery"])}`);
  await expectAccessible(page);
});

test("what could not be sent says why, and is sent again", async ({ page }) => {
  const before = receiver.got.length;
  receiver.down = true;
  await commit(`Change ${name}`, { [`${directory}/all.yaml`]: configMap("goodbye") });
  await api("POST", `/api/v1/agents/${agent.id}/applications/${agent.namespace}/${name}/refresh`, {}, server.session);
  await expect
    .poll(async () => (await newest())?.message ?? "", { message: "an attempt failed", timeout: 60_000 })
    .toContain("503");
  await page.goto(address("deliveries", "&state=Waiting"));
  const row = page.getByRole("row", { name: new RegExp(name) });
  await expect(row).toContainText("the webhook answered with status 503");
  await expectAccessible(page);
  const waiting = await newest();
  // A link leads to it, whatever the filter leaves.
  await page.goto(address("deliveries", `&state=Dead&open=${waiting?.id}`));
  const drawer = page.getByRole("dialog");
  await expect(drawer).toContainText("the webhook answered with status 503");
  await expectAccessible(page);
  receiver.down = false;
  await drawer.getByRole("button", { name: "Send now" }).click();
  await expect.poll(() => receiver.got.length, { message: "it arrives" }).toBe(before + 1);
  expect(receiver.got.at(-1)?.headers["x-slipway-delivery"]).toBe(waiting?.id);
  await expect(drawer.getByText("Sent", { exact: true })).toBeVisible();
  await page.goto(address("deliveries", "&state=Sent"));
  await expect(page.getByRole("row", { name: new RegExp(name) })).toHaveCount(2);
});
