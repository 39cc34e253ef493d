import { expect, test } from "vitest";
import { appOf, madeBy } from "./family";

const app = appOf({ agent: "account.demo", namespace: "argocd", name: "platform" });
const child = (name: string) => ({ group: "argoproj.io", kind: "Application", namespace: "argocd", name });
const detail = (resources: unknown, destination = "https://kubernetes.default.svc/argocd") => ({
  destination,
  resource: { status: { resources } },
});

test("the Applications among the objects of one are what it makes, in the order of their names", () => {
  const objects = [child("web-10"), { kind: "ConfigMap", namespace: "argocd", name: "x" }, child("web-2")];
  expect(madeBy(app, detail(objects)).map((a) => a.id)).toEqual([
    "account.demo/argocd/web-2",
    "account.demo/argocd/web-10",
  ]);
});

test("two that make each other end where the first is met again", () => {
  expect(madeBy(app, detail([child("platform"), child("root")]), ["account.demo/argocd/root"])).toEqual([]);
});

test("what is deployed to another cluster is no page of this agent, and what is no list is nothing", () => {
  expect(madeBy(app, detail([child("web")], "https://other.example.org/argocd"))).toEqual([]);
  expect([undefined, {}, detail("x")].map((d) => madeBy(app, d))).toEqual([[], [], []]);
});
