import { addressOf, configMap, createApplication, deleteApplication, stateOf } from "./support/application";
import { apply, kube } from "./support/kube";
import { stack } from "./support/stack";
import { expect, expectAccessible, test } from "./support/test";

const name = `links-${Date.now().toString(36)}`;
const config = () => `/api/v1/namespaces/${stack().namespace}/configmaps/argocd-cm`;

test.beforeAll(async () => {
  // The settings are for the whole stack: the conditions make these links of nothing else.
  await apply({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: {
      name: "argocd-cm",
      namespace: stack().namespace,
      labels: { "app.kubernetes.io/part-of": "argocd" },
    },
    data: {
      "application.links": `- {title: Dashboards, description: Requests and errors, url: 'https://grafana.example.org/{{.app.metadata.name}}', if: 'app.metadata.name == "${name}"'}\n- {title: Script, url: 'javascript:alert(1)', if: 'app.metadata.name == "${name}"'}\n`,
      "resource.links": `- {title: Logs, url: 'https://logs.example.org/{{.resource.metadata.name}}', if: 'app.metadata.name == "${name}" && resource.kind == "ConfigMap"'}\n`,
    },
  });
  const annotated = configMap(name, "hello").replace(
    "metadata:",
    'metadata:\n  annotations: {"link.argocd.argoproj.io/runbook": "Runbook|https://wiki.example.org/it"}',
  );
  await createApplication(name, { "all.yaml": annotated }, { automated: true });
});

test.afterAll(async () => {
  await deleteApplication(name);
  await kube("DELETE", config());
});

test("links of settings and annotations are in the header of an application and of an object", async ({ page }) => {
  await expect.poll(() => stateOf(name), { timeout: 60_000 }).toContain("Synced Healthy");
  await page.goto(addressOf(name));
  const links = page.locator("header").getByRole("list", { name: "Links" });
  await expect(links.getByRole("link", { name: "Dashboards" })).toHaveAttribute(
    "href",
    `https://grafana.example.org/${name}`,
  );
  await expect(links.getByRole("link", { name: "Script" })).toHaveCount(0);

  await page.getByTestId(new RegExp(`^rf__node-/ConfigMap/.*/${name}$`)).click();
  const object = page.getByRole("dialog").getByRole("list", { name: "Links" });
  await expect(object.getByRole("link", { name: "Logs" })).toHaveAttribute("href", `https://logs.example.org/${name}`);
  await expect(object.getByRole("link", { name: "Runbook" })).toHaveAttribute("href", "https://wiki.example.org/it");
  await expectAccessible(page);
});
