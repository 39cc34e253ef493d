import { expect, test } from "vitest";
import { awayWhy } from "./application";

test("what takes the agent is off only while the agent is away", () => {
  expect(awayWhy({ agent: "account.prod", agentAway: true })).toBe(
    "The agent account.prod is away. This is possible again when it is back.",
  );
  expect(awayWhy({ agent: "account.prod" })).toBeUndefined();
  expect(awayWhy(undefined)).toBeUndefined();
});
