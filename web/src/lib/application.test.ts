import { expect, test } from "vitest";
import { awayWhy, lackWhy } from "./application";

test("what takes the agent is off only while the agent is away", () => {
  expect(awayWhy({ agent: "account.prod", agentAway: true })).toBe(
    "The agent account.prod is away. Try again when it is back.",
  );
  expect(awayWhy({ agent: "account.prod" })).toBeUndefined();
  expect(awayWhy(undefined)).toBeUndefined();
});

test("a command that the agent does not carry out is off, with what to do instead for this application", () => {
  const detail = {
    unsupported: [{ command: "application.confirm", message: "use `argocd app confirm-deletion APP`" }],
  };
  expect(lackWhy({ name: "web" }, detail, "application.confirm")).toBe("use `argocd app confirm-deletion web`");
  expect(lackWhy({ name: "web" }, detail, "application.sync")).toBeUndefined();
  expect(lackWhy({ name: "web" }, undefined, "application.confirm")).toBeUndefined();
});
