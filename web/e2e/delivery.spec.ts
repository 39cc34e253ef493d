import { api } from "./support/api";
import { stack } from "./support/stack";
import { expect, expectAccessible, test } from "./support/test";

const unique = Date.now().toString(36);

test("a repository's password goes to the agent, and to nobody else", async ({ page }) => {
  const url = `https://git.example.org/${unique}/shop.git`;
  const password = `password-of-${unique}`;
  const sent: string[] = [];
  page.on("request", (request) => sent.push(request.postData() ?? ""));
  await page.goto("/repositories");
  await page.getByRole("button", { name: "Add repository" }).first().click();
  const form = page.getByRole("dialog");
  await form.getByLabel("Address").fill(url);
  // All that the agent can use is offered.
  await expect(form.getByRole("option", { name: /GitHub App/ })).toHaveCount(1);
  await expect(form.getByRole("option", { name: /Helm|OCI/ })).toHaveCount(2);
  await expect(form.getByLabel(/LFS/)).toHaveCount(1);
  await form.getByLabel("Sign in with").selectOption("password");
  await form.getByLabel("User name").fill("bot");
  await form.getByLabel("Password or token").fill(password);
  await expectAccessible(page);
  await form.getByRole("button", { name: "Add repository" }).click();
  await expect(form).toHaveCount(0);

  const row = page.getByRole("row", { name: new RegExp(unique) });
  await expect(row).toBeVisible();
  await row.press("Enter");
  await expect(form).toContainText("stored in the agent's cluster");
  await expectAccessible(page);
  expect(await page.content()).not.toContain(password);
  expect(sent.join("\n")).not.toContain(password);
  expect(JSON.stringify(await api("GET", `/api/v1/repositories?search=${unique}`))).not.toContain(password);

  await form.getByRole("button", { name: "Delete" }).click();
  const ask = page.getByRole("dialog", { name: /^Delete repository/ });
  await expect(ask).toContainText(url);
  await ask.getByRole("button", { name: "Delete repository" }).click();
  await expect(row).toHaveCount(0);
});

test("a test of a connection says what does not work", async ({ page }) => {
  await page.goto("/repositories?add=repositories");
  const form = page.getByRole("dialog");
  await form.getByLabel("Address").fill(`${stack().repository.replace(/demo\.git$/, "")}no-such-repository.git`);
  await form.getByRole("button", { name: "Test the connection" }).click();
  await expect(form.getByRole("status")).toContainText("The agent cannot use this repository");
  await form.getByLabel("Address").fill(stack().repository);
  await form.getByRole("button", { name: "Test the connection" }).click();
  await expect(form.getByRole("status")).toContainText("The agent can use this repository");
});

test("a signing key that is none is refused", async ({ page, complaints }) => {
  complaints.expect(/status of 422/);
  await page.goto("/keys?add=gpg-keys");
  const form = page.getByRole("dialog");
  await form.getByLabel("Key id").fill("4AEE18F83AFDEB23");
  await form.getByLabel("Public key").fill("-----BEGIN PGP PRIVATE KEY BLOCK-----");
  await form.getByRole("button", { name: "Add signing key" }).click();
  await expect(form).toContainText("it is a private one");
  await page.goto("/clusters?add=clusters");
  await expect(page.getByRole("dialog").getByLabel("Address of the API server")).toBeVisible();
  await expect(page.getByRole("dialog").getByLabel("Namespaces")).toBeVisible();
  await expect(page.getByRole("dialog").getByLabel("Shard")).toHaveCount(0);
});

test("clusters, certificates, keys, projects and application sets are there without any", async ({ page }) => {
  for (const [path, heading] of [
    ["/clusters", "Clusters"],
    ["/certificates", "Certificates"],
    ["/keys", "Signing keys"],
    ["/projects", "Projects"],
    ["/projects?tab=organizations", "Projects"],
    ["/projects?tab=argo", "Projects"],
    ["/application-sets", "Application sets"],
  ] as const) {
    await page.goto(path);
    await expect(page.getByRole("heading", { level: 1, name: heading })).toBeVisible();
    await expect(page.getByRole("status", { name: "Loading" })).toHaveCount(0);
    await expectAccessible(page);
  }
});
