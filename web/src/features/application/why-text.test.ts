import { expect, test } from "vitest";
import { commandsOf, heldText, reasonTone, split, stateText } from "./why-text";

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

test("a deletion that is held is one line with the count and the limit", () => {
  const held = (why: string, objects = 0) =>
    heldText({
      code: "HeldByGuard",
      what: "",
      why,
      objects: Array.from({ length: objects }, (_, i) => ({ kind: "X", name: `${i}` })),
    });
  expect(
    held(
      'held: this sync would delete 21 objects (A, B), and 21 of 25 objects is more than 10 and over 50% (deletion budget "10,50%")',
    ),
  ).toBe("21 of 25 objects would be deleted (limit: 10 and 50 %).");
  expect(held("1 of 2 objects is more than 0 (deletion budget)")).toBe("1 of 2 objects would be deleted (limit: 0).");
  expect(held("this sync would delete 2 objects (x), and Namespace shop takes with it what is in it or of it", 2)).toBe(
    "2 objects would be deleted, and with Namespace shop all that is in it.",
  );
  expect(held("another wording", 1)).toBe("1 object would be deleted.");
  expect(heldText({ code: "Failed", what: "", why: "3 of 4 objects is more than 1" })).toBeUndefined();
});

test("a fault that was found is as loud as a broken application, whatever waits for it", () => {
  expect(reasonTone({ code: "Done", what: "" })).toBe("ok");
  expect(reasonTone({ code: "Progressing", what: "" })).toBe("busy");
  expect(reasonTone({ code: "Progressing", what: "", finding: { code: "ImagePull", what: "x" } as never })).toBe("bad");
  expect(reasonTone({ code: "Missing", what: "" })).toBe("idle");
  expect(reasonTone({ code: "constructor", what: "" })).toBe("idle");
});
