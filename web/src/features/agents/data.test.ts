import { expect, it } from "vitest";
import { type Agent, connected, heardEvery } from "./data";

const agent = (state?: string) => ({ name: "a", ...(state ? { status: { state } } : {}) }) as Agent;

it.each(["Connected", "Degraded"])("%s is heard now", (state) => {
  expect(connected(agent(state))).toBe(true);
  expect(heardEvery(agent(state))).toBe(10_000);
});

it.each(["Disconnected", "Never", "Revoked", undefined])("%s is not: when it was heard is told as it was", (state) => {
  expect(connected(agent(state))).toBe(false);
  expect(heardEvery(agent(state))).toBeUndefined();
});
