import { expect, it } from "vitest";
import { beside, type Resource } from "./resource";

const during = (phase: string) => ({ metadata: {}, spec: {}, status: { operationState: { phase } } }) as Resource;
const actions = [{ action: "confirm" }, { action: "terminate" }];

it.each(["Running", "Terminating"])("what is %s is terminated at one place: where it is shown", (phase) => {
  expect(beside(actions, during(phase))).toEqual([{ action: "confirm" }]);
});

it("what only was asked for is taken back at the head of the page", () => {
  expect(beside(actions, { metadata: {}, spec: {} } as Resource)).toEqual(actions);
  expect(beside(actions, during("Succeeded"))).toEqual(actions);
});
