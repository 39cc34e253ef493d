import { expect, test } from "vitest";
import { commandsOf, split, stateText } from "./why-text";

test("commands are what is in backticks and begins with a program", () => {
  const next = "push a fix, and `slipway app sync web`; `spec.source` says where; `slipway app sync web` again";
  expect(commandsOf(next)).toEqual(["slipway app sync web"]);
  expect(split("a `b` c").map((p) => [p.text, p.code])).toEqual([
    ["a ", false],
    ["b", true],
    [" c", false],
  ]);
});

test("a state is in the words that the rest of the page has for it", () => {
  expect(stateText("OutOfSync, Healthy, held")).toBe("Out of sync, healthy, held");
  expect(stateText("Synced, Progressing")).toBe("Synced, progressing");
  expect(stateText("Unknown, Healthy")).toBe("Sync unknown, healthy");
  expect(stateText("Synced, Unknown, agent away")).toBe("Synced, health unknown, agent away");
  expect(stateText("Unknown, Unknown")).toBe("Sync and health unknown");
});

test("a lone backtick is a backtick", () => {
  expect(split("it's ` here")).toEqual([{ text: "it's ` here", code: false }]);
  expect(commandsOf("`slipway app get web")).toEqual([]);
});
