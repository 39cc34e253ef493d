import { expect, it } from "vitest";
import { accessParts, offered } from "./access";
import type { Whoami } from "./session";

const holding = (scope: string, ...permissions: string[]) =>
  ({ grants: [{ scope, permissions }] }) as unknown as Whoami;
const access = { parts: Object.values(accessParts) };

it.each(access.parts.map((part) => part.permission))("access is offered to who has only %s", (permission) => {
  expect(offered(holding("account", permission), access)).toBe(true);
});

it("access is not offered to who can see no part of it", () => {
  expect(offered(null, access)).toBe(false);
  expect(offered(holding("account", "application_view"), access)).toBe(false);
  // Users belong to the account.
  expect(offered(holding("org.a", "user_view"), access)).toBe(false);
  expect(offered(holding("org.a", "role_view"), access)).toBe(true);
});

it("a place of one part is offered to who has its permission somewhere", () => {
  expect(offered(holding("org.a", "agent_view"), { permission: "agent_view" })).toBe(true);
  expect(offered(holding("account", "user_view"), { permission: "agent_view" })).toBe(false);
});

it("what needs nothing is offered to everybody", () => {
  expect(offered(null, {})).toBe(true);
});
