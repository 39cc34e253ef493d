import { expect, it } from "vitest";
import { askedOf, beside, type Resource } from "./resource";

const during = (phase: string) => ({ metadata: {}, spec: {}, status: { operationState: { phase } } }) as Resource;
const actions = [{ action: "confirm" }, { action: "terminate" }];

it.each(["Running", "Terminating"])("what is %s is terminated at one place: where it is shown", (phase) => {
  expect(beside(actions, during(phase))).toEqual([{ action: "confirm" }]);
});

it("what only was asked for is taken back at the head of the page", () => {
  expect(beside(actions, { metadata: {}, spec: {} } as Resource)).toEqual(actions);
  expect(beside(actions, during("Succeeded"))).toEqual(actions);
});

it.each([
  ["Held", "held: confirm with `slipway app confirm web` (plan 5f2b7c0d9a1e4f36)"],
  ["DeletionError", "held: nothing was deleted: confirm with `slipway app confirm web`"],
])("a person is asked what the condition %s asks", (type, message) => {
  const conditions = [
    { type: "Held", message: "a sync window holds it" },
    { type, message },
  ];
  expect(askedOf({ ...during("Succeeded"), status: { conditions } } as Resource)).toBe(message);
});
