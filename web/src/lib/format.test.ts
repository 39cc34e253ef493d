import { expect, test } from "vitest";
import { repositoryName, sentence } from "./format";
import { clock } from "./time";

test("a list names repositories without the host that all of them share", () => {
  expect(repositoryName("https://git.example.com/payments/deploy.git")).toBe("payments/deploy");
  expect(repositoryName("git@git.example.com:payments/deploy.git")).toBe("payments/deploy");
  expect(repositoryName("http://127.0.0.1:33601/demo.git")).toBe("demo");
  expect(repositoryName("https://charts.example.com")).toBe("charts.example.com");
  expect(repositoryName(undefined)).toBe("");
});

test("a message is a sentence, without what its title says", () => {
  expect(sentence("held: this sync would delete 2 objects")).toBe("This sync would delete 2 objects.");
  expect(sentence("retrying at 02:44:07.")).toBe("Retrying at 02:44:07.");
  expect(sentence("by user:ann: it was slow")).toBe("By ann: it was slow.");
  expect(sentence("")).toBe("");
  expect(sentence("apps/web: app path does not exist")).toBe("apps/web: app path does not exist.");
  expect(sentence("spec.source has no path")).toBe("spec.source has no path.");
  expect(sentence("its source cannot be read")).toBe("Its source cannot be read.");
  const now = Date.parse("2026-01-02T03:04:05Z");
  expect(sentence("no heartbeat since 2026-01-02T03:04:05Z: see whether it runs", now)).toBe(
    `No heartbeat since ${clock("2026-01-02T03:04:05Z", now)}: see whether it runs.`,
  );
});
