import { expect, test } from "vitest";
import { counts, pairs, parseUnified, reversed } from "./diff-text";

const text = `--- live ConfigMap shop/settings
+++ desired ConfigMap shop/settings
@@ -1,5 +1,5 @@
 apiVersion: v1
 data:
-  v: by hand
-  w: 1
+  v: three
 kind: ConfigMap
@@ -20,2 +19,3 @@
 name: settings
+--- not a header
\\ No newline at end of file
`;

test("lines have their numbers on both sides, and what is left out between is a gap", () => {
  const lines = parseUnified(text);
  expect(lines.map((l) => [l.kind, l.before, l.after, l.text])).toEqual([
    ["same", 1, 1, "apiVersion: v1"],
    ["same", 2, 2, "data:"],
    ["out", 3, 0, "  v: by hand"],
    ["out", 4, 0, "  w: 1"],
    ["in", 0, 3, "  v: three"],
    ["same", 5, 4, "kind: ConfigMap"],
    ["gap", 20, 19, ""],
    ["same", 20, 19, "name: settings"],
    ["in", 0, 20, "--- not a header"],
  ]);
  expect(counts(lines)).toEqual({ added: 2, removed: 2 });
});

test("what went is beside what came, and one side stays empty where there is less", () => {
  const rows = pairs(parseUnified(text)).map((p) => [p.left?.text, p.right?.text]);
  expect(rows.slice(2, 5)).toEqual([
    ["  v: by hand", "  v: three"],
    ["  w: 1", undefined],
    ["kind: ConfigMap", "kind: ConfigMap"],
  ]);
  expect(rows.at(-1)).toEqual([undefined, "--- not a header"]);
});

test("a text that is no diff has no lines", () => {
  expect(parseUnified("nothing")).toEqual([]);
  expect(parseUnified("")).toEqual([]);
});

test("reversed twice is the same, and once is from Git to the cluster", () => {
  const back = reversed(text);
  expect(back.split("\n").slice(0, 3)).toEqual(["--- Git", "+++ cluster", "@@ -1,5 +1,5 @@"]);
  expect(back).toContain("-  v: three\n+  v: by hand\n+  w: 1\n");
  expect(back).toContain("@@ -19,3 +20,2 @@");
  expect(parseUnified(reversed(back))).toEqual(parseUnified(text));
});
