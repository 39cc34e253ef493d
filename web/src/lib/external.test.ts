import { expect, test } from "vitest";
import { externalLinks } from "./external";

const links = (annotations: Record<string, string>, served: string[] = []) => externalLinks({ annotations, served });

test("annotations name links, with a title of their own or the name of the annotation", () => {
  expect(
    links({
      "link.argocd.argoproj.io/grafana": "https://grafana.example.org/d/web",
      "link.argocd.argoproj.io/runbook": "Runbook of web|https://wiki.example.org/web",
      "argocd.argoproj.io/sync-wave": "1",
    }),
  ).toEqual([
    { title: "grafana", href: "https://grafana.example.org/d/web" },
    { title: "Runbook of web", href: "https://wiki.example.org/web" },
  ]);
});

test("addresses that objects are served at follow, each once", () => {
  const url = "https://web.example.org/";
  expect(links({ "link.argocd.argoproj.io/site": url }, [url, "https://shop.example.org/cart"])).toEqual([
    { title: "site", href: url },
    { title: "shop.example.org/cart", href: "https://shop.example.org/cart" },
  ]);
});

test("what runs script or is no address is no link", () => {
  expect(
    links({ "link.argocd.argoproj.io/x": "javascript:alert(1)" }, ["data:text/html,x", "", "x|javascript:alert(1)"]),
  ).toEqual([]);
});

test("links of settings stand between those that were chosen and those that are derived", () => {
  expect(
    externalLinks({
      annotations: { "link.argocd.argoproj.io/runbook": "https://wiki.example.org/web" },
      settings: [
        {
          title: "Grafana",
          url: "https://grafana.example.org/d/web",
          description: "Dashboards",
          iconClass: "fa-chart",
        },
        { title: "Owner", url: "mailto:web@example.org" },
        { title: "Again", url: "https://wiki.example.org/web" },
        { title: "Script", url: "javascript:alert(1)" },
      ],
      served: ["https://web.example.org/"],
    }).map(({ title, href }) => `${title} ${href}`),
  ).toEqual([
    "runbook https://wiki.example.org/web",
    "Grafana https://grafana.example.org/d/web",
    "Owner mailto:web@example.org",
    "web.example.org https://web.example.org/",
  ]);
});
