import { expect, test } from "vitest";
import { type Commit, isCommit, madeOf } from "./commit";

const commit = (of: Partial<Commit>): Commit => ({ revision: "", known: true, webURL: "", ...of });

test("only whole commits are asked for", () => {
  expect(isCommit("3f2a9c1e0b7d4c5a69788796a5b4c3d2e1f0a9b8")).toBe(true);
  expect(isCommit("a".repeat(64))).toBe(true);
  for (const other of ["", "1.2.0", "main", "3f2a9c1", "sha256:abc", "g".repeat(40), "a".repeat(50)]) {
    expect(isCommit(other), other).toBe(false);
  }
});

test("what Git says of a commit comes before what was noted of it", () => {
  const note = { subject: "noted", author: "Bob <bob@example.org>" };
  expect(
    madeOf(
      commit({
        author: { name: "Ann", email: "ann@example.org" },
        message: "\nMend the sale\n\nIt lost orders.\n",
        date: "2026-03-01T12:00:00Z",
      }),
      note,
    ),
  ).toEqual({ author: "Ann", by: "Ann <ann@example.org>", subject: "Mend the sale", at: "2026-03-01T12:00:00Z" });
  expect(madeOf(undefined, note)).toEqual({
    author: "Bob",
    by: "Bob <bob@example.org>",
    subject: "noted",
    at: undefined,
  });
});

test("nothing is made up where nothing is known", () => {
  expect(madeOf(undefined)).toEqual({ author: "", by: "", subject: "", at: undefined });
  expect(madeOf(commit({ author: { name: "", email: "ann@example.org" } })).author).toBe("<ann@example.org>");
});
