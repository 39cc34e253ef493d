import { type Connected, connectAgent } from "./support/agent";
import { api, signIn } from "./support/api";
import { configMap } from "./support/application";
import { type Server, startServer } from "./support/server";
import { commit, stack } from "./support/stack";
import { expect, expectAccessible, test } from "./support/test";

test.use({ signedIn: false });

const name = `away-${Date.now().toString(36)}`;
let server: Server;
let agent: Connected;

test.beforeAll(async () => {
  server = await startServer();
  agent = await connectAgent(server, name);
  await commit(`Begin ${name}`, { [`apps/${name}/all.yaml`]: configMap(name, "hello") });
  const { namespace, id } = agent;
  const applications = `/api/v1/agents/${id}/applications`;
  const resource = {
    apiVersion: "argoproj.io/v1alpha1",
    kind: "Application",
    metadata: { name, namespace },
    spec: {
      project: "default",
      source: { repoURL: stack().repository, path: `apps/${name}`, targetRevision: "main" },
      destination: { server: "https://kubernetes.default.svc", namespace },
      syncPolicy: { automated: {} },
    },
  };
  await api("POST", applications, { resource }, server.session);
  const state = async () => {
    const { sync, health } = await api<{ sync: string; health: string }>(
      "GET",
      `${applications}/${namespace}/${name}`,
      undefined,
      server.session,
    );
    return `${sync} ${health}`;
  };
  await expect.poll(state, { timeout: 60_000 }).toBe("Synced Healthy");
});

test.afterAll(async () => {
  await agent?.stop();
  await server?.stop();
});

test.beforeEach(({ context }) => signIn(context, server.session));

test("an agent that stops leads the page, with grey states and the last graph, until it is back", async ({
  page,
  complaints,
}) => {
  test.slow(); // it counts as away after 25 s
  complaints.expect(/status of 503/);
  await page.goto(`${server.url}/applications/${agent.id}/${agent.namespace}/${name}`);
  const reason = page.getByRole("region", { name: "Why" }).filter({ hasText: `The agent ${agent.id} is away` });
  const graph = page.getByRole("application", { name: `Objects of ${name}` });
  const states = page.locator("header [data-old]");
  const sync = page.getByRole("button", { name: "Sync…" });
  const object = graph.getByTestId(`rf__node-/ConfigMap/${agent.namespace}/${name}`);
  await expect(object).toBeVisible();
  await expect(page.getByText("Nothing to do")).toBeVisible();
  await expect(reason).toHaveCount(0);

  await agent.leave();
  await expect(reason).toBeVisible({ timeout: 60_000 });
  await expect(reason).toContainText(/Last heard .* ago/);
  await expect(page.getByText(`The agent ${agent.id} is away`, { exact: true })).toHaveCount(1);
  await expect(reason.getByRole("link", { name: "Open the agent" })).toBeVisible();
  await expect(states).toHaveText(["Healthy", "Synced"]);
  await expect(page.locator("header").getByText(/^as of /)).toBeVisible();
  await expect(page.getByText("Nothing to do")).toHaveCount(0);
  for (const button of [sync, page.getByRole("button", { name: "Refresh", exact: true })]) {
    await expect(button).toHaveAccessibleDescription(`The agent ${agent.id} is away. Try again when it is back.`);
  }
  await expect(object).toBeVisible();
  await expectAccessible(page);

  // Who opens the page only now sees the objects of the last report.
  await page.reload();
  await expect(reason).toBeVisible();
  await expect(object).toBeVisible();
  await expect(page.getByText("The agent is away: these are the objects of its last report")).toBeVisible();

  await page.goto(`${server.url}/applications?stale=true`);
  const row = page.getByRole("grid", { name: "Applications" }).getByRole("row").filter({ hasText: name });
  await expect(row).toContainText(/Agent away, as of/);
  await expect(row.locator("[data-old]")).toHaveText(["Healthy", "Synced"]);

  await page.goto(`${server.url}/`);
  const tally = page.getByRole("listitem").filter({ has: page.getByRole("link", { name: agent.id, exact: true }) });
  await expect(tally.getByTitle("1 out of date")).toBeVisible();
  await expect(tally.locator("[data-old]")).toHaveCount(2);

  await page.goto(`${server.url}/applications/${agent.id}/${agent.namespace}/${name}`);
  await expect(reason).toBeVisible();
  agent.back();
  await expect(reason).toHaveCount(0, { timeout: 60_000 });
  await expect(states).toHaveCount(0);
  await expect(sync).not.toHaveAttribute("aria-disabled", "true");
  await expect(object).toBeVisible();
  await expect(page.getByText("Nothing to do")).toBeVisible();
});
