import { expect, test } from "vitest";
import { LogBuffer, hue, marks, parse } from "./log-buffer";
import { type Ask, prefixed, queryOf } from "./log-stream";

const ask: Ask = {
  target: { kind: "Deployment", group: "apps", version: "v1", namespace: "shop", name: "web" },
  container: "",
  follow: true,
  previous: false,
  since: 0,
  tail: 1000,
  search: "",
  invert: true,
  ignoreCase: true,
  timestamps: false,
};

test("a line is taken apart: where it is from, when, and what it says", () => {
  expect(parse("web-1/app 2026-01-02T03:04:05.678Z started", 1, "web", true)).toEqual({
    seq: 1,
    source: "web-1/app",
    at: "2026-01-02T03:04:05.678Z",
    text: "started",
  });
});

test("a line that only looks like one with a pod in front stays whole", () => {
  expect(parse("http/server started", 1, "web", false).text).toBe("http/server started");
  expect(parse("web-1/app started", 1, undefined, false).source).toBe("");
});

test("colours and other orders to terminals are no text", () => {
  expect(parse("\u001b[31mred\u001b[0m\u001b]0;title\u0007\u0000 end", 1, undefined, false).text).toBe("red end");
});

test("the buffer keeps the last lines and their numbers", () => {
  const buffer = new LogBuffer(100);
  for (let i = 0; i < 1_000; i++) {
    buffer.push([`line ${i}`], undefined, false);
  }
  const view = buffer.view();
  expect(view).toHaveLength(100);
  expect([view[0]?.text, view[0]?.seq, view.at(-1)?.text]).toEqual(["line 900", 900, "line 999"]);
  expect(buffer.total).toBe(1_000);
});

test("a list that was handed out does not change", () => {
  const buffer = new LogBuffer(10);
  buffer.push(["a"], undefined, false);
  const view = buffer.view();
  buffer.push(["b"], undefined, false);
  expect(view).toHaveLength(1);
});

test("what was searched for is marked, in capitals as well", () => {
  expect(marks("An Error, an error", "error", true)).toEqual([
    ["An ", false],
    ["Error", true],
    [", an ", false],
    ["error", true],
  ]);
  expect(marks("An Error, an error", "error", false)).toEqual([
    ["An Error, an ", false],
    ["error", true],
  ]);
  expect(marks("nothing", "error", true)).toEqual([["nothing", false]]);
  expect(marks("", "error", true)).toEqual([["", false]]);
});

test("a source has the same colour each time", () => {
  expect(hue("web-1/app", 6)).toBe(hue("web-1/app", 6));
  expect(hue("web-1/app", 6)).toBeLessThan(6);
});

test("a log is asked for as the API reads it, and goes on from a time after a break", () => {
  expect(queryOf(ask)).toBe(
    "group=apps&version=v1&kind=Deployment&resourceNamespace=shop&resourceName=web&follow=true&tail=1000",
  );
  expect(queryOf({ ...ask, target: undefined, search: "a b" }, "2026-01-01T00:00:00Z")).toBe(
    "follow=true&search=a+b&invert=true&ignoreCase=true&sinceTime=2026-01-01T00%3A00%3A00Z",
  );
});

test("only logs of several containers have names in front", () => {
  expect(prefixed({ ...ask, target: undefined })).toBe("");
  expect(prefixed(ask)).toBe("web");
  expect(prefixed({ ...ask, target: { kind: "Pod", name: "web-1" }, container: "app" })).toBeUndefined();
});
