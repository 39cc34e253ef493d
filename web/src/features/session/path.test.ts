import { expect, it } from "vitest";
import { localPath } from "./path";

it("leads only to pages of this server", () => {
  expect(localPath("/applications?sync=OutOfSync")).toBe("/applications?sync=OutOfSync");
  for (const to of [
    "",
    "//evil.example",
    "https://evil.example",
    "/\\evil.example",
    "javascript:alert(1)",
    "/a\\b",
    "/\t/evil.example",
    "/\n/evil.example",
    "/a\r",
  ]) {
    expect(localPath(to), to).toBe("/");
  }
});
