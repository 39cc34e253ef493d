import { expect, test } from "vitest";
import { labelOf } from "@/ui/status";
import { listOf, placeOf } from "./attention";

const app = (kind: string) => ({
  kind: kind as "Held",
  agent: "account.prod",
  namespace: "argocd",
  name: "shop",
  object: { type: "application", id: "account.prod/argocd/shop" },
});
const params = { agent: "account.prod", namespace: "argocd", name: "shop" };
const page = "/applications/$agent/$namespace/$name";

test("a row leads to where one acts", () => {
  expect(placeOf(app("SourceError"))).toEqual({ to: `${page}/why`, params });
  expect(placeOf(app("SyncFailed"))).toEqual({ to: `${page}/sync`, params });
  expect(placeOf(app("OutOfSync"))).toEqual({ to: `${page}/diff`, params });
  for (const kind of ["Degraded", "Held", "NeverDeployed", "of a later version"]) {
    expect(placeOf(app(kind))).toEqual({ to: page, params });
  }
  const agent = { ...app("AgentAway"), name: "prod", object: { type: "agent", id: "account.prod" } };
  expect(placeOf(agent)).toEqual({ to: "/agents/$agent", params: { agent: "account.prod" } });
});

test("a count leads to all that it counts", () => {
  expect(listOf("AgentAway")).toEqual({ to: "/agents" });
  expect(listOf("SyncFailed")).toEqual({ to: "/applications", search: { attention: "SyncFailed" } });
});

test("each kind has a name of its own", () => {
  const kinds = [
    "SourceError",
    "Degraded",
    "SyncFailed",
    "Held",
    "AgentAway",
    "AgentDegraded",
    "OutOfSync",
    "NeverDeployed",
  ];
  expect(kinds.map(labelOf)).toEqual([
    "Source error",
    "Degraded",
    "Sync failed",
    "Held",
    "Agent away",
    "Agent degraded",
    "Out of sync",
    "Never deployed",
  ]);
});
