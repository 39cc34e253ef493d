import { expect, test } from "vitest";
import { safeLink, webLink } from "./links";

test("a link leads to a page or to a mail", () => {
  expect(safeLink("https://status.example.org/x?y=1")).toBe("https://status.example.org/x?y=1");
  expect(safeLink("http://10.0.0.1:3000/")).toBe("http://10.0.0.1:3000/");
  expect(safeLink("mailto:ops@example.org")).toBe("mailto:ops@example.org");
  expect(webLink("https://hooks.example.org/")).toBe("https://hooks.example.org/");
  expect(webLink("mailto:ops@example.org")).toBeUndefined();
});

test("a link never runs script and never opens what is on this machine", () => {
  for (const address of [
    "javascript:alert(1)",
    " javascript:alert(1)",
    "data:text/html,x",
    "file:///etc/passwd",
    "/x",
    "",
    undefined,
  ]) {
    expect(safeLink(address)).toBeUndefined();
  }
});
