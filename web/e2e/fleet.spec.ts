import { type Connected, connectAgent } from "./support/agent";
import { api, signIn } from "./support/api";
import { configMap } from "./support/application";
import { type Server, startServer } from "./support/server";
import { commit, stack } from "./support/stack";
import { expect, expectAccessible, test } from "./support/test";

test.use({ signedIn: false });

// What needs attention is counted, so these are all that there is.
const name = `fleet-${Date.now().toString(36)}`;
let server: Server;
let agent: Connected;

async function declare(what: string, syncPolicy: unknown): Promise<void> {
  const resource = {
    apiVersion: "argoproj.io/v1alpha1",
    kind: "Application",
    metadata: { name: `${name}-${what}`, namespace: agent.namespace },
    spec: {
      project: "default",
      source: { repoURL: stack().repository, path: `apps/${name}-${what}`, targetRevision: "main" },
      destination: { server: "https://kubernetes.default.svc", namespace: agent.namespace },
      syncPolicy,
    },
  };
  await api("POST", `/api/v1/agents/${agent.id}/applications`, { resource }, server.session);
}

const state = async (what: string) => {
  const path = `/api/v1/agents/${agent.id}/applications/${agent.namespace}/${name}-${what}`;
  const { sync, health } = await api<{ sync: string; health: string }>("GET", path, undefined, server.session);
  return `${sync} ${health}`;
};

test.beforeAll(async () => {
  server = await startServer();
  agent = await connectAgent(server, name);
  await commit(`Begin ${name}`, {
    [`apps/${name}-fine/all.yaml`]: configMap(`${name}-fine`, "hello"),
    [`apps/${name}-new/all.yaml`]: configMap(`${name}-new`, "hello"),
  });
  await declare("fine", { automated: {} });
  await declare("new", {});
  await declare("broken", { automated: {} });
  await expect.poll(() => state("fine"), { timeout: 60_000 }).toBe("Synced Healthy");
  await expect.poll(() => state("new"), { timeout: 60_000 }).toMatch(/^OutOfSync/);
  await expect.poll(() => state("broken"), { timeout: 60_000 }).toMatch(/^Unknown/);
});

test.afterAll(async () => {
  await agent?.stop();
  await server?.stop();
});

test.beforeEach(({ context }) => signIn(context, server.session));

test("the first page begins with what needs attention, and counts what its lists have", async ({ page }) => {
  await page.goto(server.url);
  const rows = page.getByRole("list", { name: "Needs attention" }).getByRole("listitem");
  await expect(rows).toHaveCount(1);
  await expect(rows.first()).toContainText(`${name}-broken`);
  await expect(rows.first()).toContainText("Its source cannot be read or compared");
  await expect(page.getByText("Never deployed: 1")).toBeVisible();
  await expectAccessible(page);
  // It is the first thing on a phone, too.
  const wide = page.viewportSize()!;
  await page.setViewportSize({ width: 390, height: 844 });
  await expect(page.getByRole("heading", { level: 2 }).first()).toHaveText("Needs attention");
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  await page.setViewportSize(wide);

  await rows
    .first()
    .getByRole("link", { name: `${name}-broken` })
    .click();
  await expect(page).toHaveURL(new RegExp(`${name}-broken/why$`));
  await page.goBack();
  await page.getByRole("list", { name: "By reason" }).getByRole("link", { name: "Source error 1" }).click();
  await expect(page).toHaveURL(/\/applications\?attention=SourceError$/);
  const table = page.getByTestId("applications-table");
  await expect(table).toHaveAttribute("data-total", "1");
  await expect(table).toContainText(`${name}-broken`);
  // Of the reasons several can be chosen.
  await page.getByRole("button", { name: "Never deployed 1" }).click();
  await expect(table).toHaveAttribute("data-total", "2");
});

test("an agent that is away is in the list with its applications, and leads to its page", async ({ page }) => {
  test.slow(); // it counts as away after 25 s
  await page.goto(server.url);
  const rows = page.getByRole("list", { name: "Needs attention" }).getByRole("listitem");
  await expect(rows).toHaveCount(1);
  await agent.leave();
  await expect(rows).toHaveCount(2, { timeout: 60_000 });
  await expect(rows.first()).toContainText(/cannot be read or compared, as of/);
  await expect(rows.last()).toContainText("The agent is away");
  await expectAccessible(page);
  await rows.last().getByRole("link", { name }).click();
  await expect(page).toHaveURL(new RegExp(`/agents/${agent.id}$`));
  await page.goBack();
  agent.back();
  await expect(rows).toHaveCount(1, { timeout: 60_000 });
});
