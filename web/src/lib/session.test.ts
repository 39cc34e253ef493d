import { expect, it } from "vitest";
import { seenIn, type Whoami } from "./session";

const holding = (...grants: [scope: string, permissions: string[], partial?: boolean][]) =>
  ({
    grants: grants.map(([scope, permissions, partial]) => ({ scope, permissions, ...(partial ? { partial } : {}) })),
  }) as Whoami;

it("nothing is seen without the permission", () => {
  expect(seenIn(null, "user_view")).toEqual([]);
  expect(seenIn(holding(["account", ["group_view"]]), "user_view")).toEqual([]);
});

it("who holds it for the account sees all, whatever else they hold", () => {
  const who = holding(["project.a.b", ["group_view"]], ["account", ["group_view"]], ["org.c", ["group_view"], true]);
  expect(seenIn(who, "group_view")).toEqual(["account"]);
});

it("who holds it in some scopes sees these, each told once", () => {
  const who = holding(["org.a", ["group_view"]], ["project.b.c", ["group_view"]], ["org.a", ["group_view"]]);
  expect(seenIn(who, "group_view")).toEqual(["org.a", "project.b.c"]);
});

it("a resource group leaves a part, unless all around it is seen", () => {
  expect(seenIn(holding(["account", ["group_view"], true]), "group_view")).toEqual(["some of account"]);
  const who = holding(["org.a", ["group_view"]], ["project.a.b", ["group_view"], true]);
  expect(seenIn(who, "group_view")).toEqual(["org.a"]);
});
