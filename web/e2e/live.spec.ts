import type { CDPSession, Page } from "@playwright/test";
import { request } from "@playwright/test";
import { addressOf, createApplication, deleteApplication, deployment, stateOf } from "./support/application";
import { kube } from "./support/kube";
import { type Server, startServer } from "./support/server";
import { expect, test } from "./support/test";

test.describe.configure({ mode: "serial" });

const name = `live-${Date.now().toString(36)}`;
const object = `/apis/apps/v1/namespaces/${name}/deployments/${name}`;

test.beforeAll(async () => {
  await createApplication(name, { "all.yaml": deployment(name, 1) }, { automated: true, pinned: true });
  await expect.poll(() => stateOf(name)).toBe("Synced Healthy Succeeded");
});

test.afterAll(() => deleteApplication(name));

const pods = (page: Page) => page.getByRole("table", { name: "Resources" }).getByRole("row").filter({ hasText: "Pod" });

// scaled has another number of pods in the cluster, and prints how long it takes until the page shows them. What a laptop of
// somebody takes is measured elsewhere: here it only has to come by itself.
async function scaled(page: Page, to: number, when: string): Promise<void> {
  await kube("PATCH", object, { spec: { replicas: to } });
  const from = performance.now();
  await expect(pods(page)).toHaveCount(to);
  // oxlint-disable-next-line no-console -- the figure is for who reads the output
  console.log(`${when}: on the page after ${Math.round(performance.now() - from)} ms`);
}

async function open(page: Page): Promise<void> {
  await page.goto(`${addressOf(name)}?view=list&kind=Pod`);
  await expect(page.getByTestId("connection")).toHaveAttribute("data-state", "live");
  await page.evaluate(() => Object.assign(window, { sameDocument: true }));
}

// same fails where the page was loaded anew.
const same = async (page: Page) => expect(await page.evaluate(() => "sameDocument" in window)).toBe(true);

test("a change in the cluster is on the page", async ({ page }) => {
  await open(page);
  await expect(pods(page)).toHaveCount(1);
  await scaled(page, 2, "awake");
  await scaled(page, 3, "awake, again");
  await same(page);
});

test("what changed while the browser was offline shows when it is back, and so does what comes then", async ({
  page,
  context,
  complaints,
}) => {
  complaints.expect(/ERR_INTERNET_DISCONNECTED|ERR_NETWORK_CHANGED/);
  await open(page);
  await expect(pods(page)).toHaveCount(3);
  await context.setOffline(true);
  await kube("PATCH", object, { spec: { replicas: 1 } });
  await context.setOffline(false);
  await expect(pods(page)).toHaveCount(1);
  await scaled(page, 2, "after the network was away");
  await same(page);
});

const life = (cdp: CDPSession, state: "frozen" | "active") => cdp.send("Page.setWebLifecycleState", { state });

test("what changed while the tab was frozen shows when it thaws", async ({ page, context }) => {
  await open(page);
  await expect(pods(page)).toHaveCount(2);
  const cdp = await context.newCDPSession(page);
  await life(cdp, "frozen");
  await kube("PATCH", object, { spec: { replicas: 4 } });
  await life(cdp, "active");
  await expect(pods(page)).toHaveCount(4);
  await scaled(page, 1, "after the tab was frozen");
  await same(page);
});

test.describe("a server that ends and comes back", () => {
  test.use({ signedIn: false });
  let server: Server;
  test.beforeAll(async () => {
    server = await startServer();
  });
  test.afterAll(() => server.stop());

  test("is followed again without loading the page", async ({ page, context, complaints }) => {
    complaints.expect(
      /ERR_CONNECTION_REFUSED|ERR_EMPTY_RESPONSE|ERR_INCOMPLETE_CHUNKED|ERR_CONNECTION_RESET|status of 5/,
    );
    const somebody = await request.newContext({ baseURL: server.url });
    await somebody.post("/api/v1/session", { data: { username: server.user, password: server.password } });
    await context.addCookies((await somebody.storageState()).cookies);
    await page.goto(`${server.url}/environments`);
    await expect(page.getByTestId("connection")).toHaveAttribute("data-state", "live");
    await page.evaluate(() => Object.assign(window, { sameDocument: true }));
    await server.restart();
    const made = await somebody.post("/api/v1/environments", { data: { name: "after-restart", type: "Production" } });
    expect(made.status(), await made.text()).toBeLessThan(300);
    await expect(page.getByText("after-restart").first()).toBeVisible();
    await expect(page.getByTestId("connection")).toHaveAttribute("data-state", "live");
    await same(page);
    await somebody.dispose();
  });
});
