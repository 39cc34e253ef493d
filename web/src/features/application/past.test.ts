import { describe, expect, test } from "vitest";
import { compose, type Entry, momentOf } from "./past";
import type { Deployment, Resource } from "./resource";

function resource(history: Deployment[], annotations: Record<string, string> = {}): Resource {
  const spec = { source: { repoURL: "https://git.example.org/shop.git", path: "." } };
  return { metadata: { name: "shop", namespace: "argocd", annotations }, spec, status: { history } };
}

const entry = (of: Partial<Entry>): Entry =>
  ({
    id: "e",
    action: "sync",
    phase: "Succeeded",
    startedAt: "2026-03-01T11:59:58Z",
    finishedAt: "2026-03-01T12:00:00.73Z",
    ...of,
  }) as Entry;

describe("compose", () => {
  test("an entry and a deployment of the same moment and revision are one, with what either knows", () => {
    const [one, ...rest] = compose(
      resource([{ id: 4, revision: "abc", deployedAt: "2026-03-01T12:00:00Z", initiatedBy: { username: "ann" } }], {
        "slipway.io/history-notes": '{"4":{"author":"Ann","subject":"Add a shop"}}',
      }),
      [entry({ revision: "abc", actor: "ann", counts: { created: 1 } as never })],
    );
    expect(rest).toEqual([]);
    expect(one).toMatchObject({
      deployment: 4,
      who: "ann",
      author: "Ann",
      subject: "Add a shop",
      current: true,
      key: "e",
    });
  });

  test("what failed, was tried or was of parts is no deployment, and stays in the list", () => {
    const list = compose(resource([{ id: 0, revision: "abc", deployedAt: "2026-03-01T12:00:00Z" }]), [
      entry({ id: "failed", revision: "abc", phase: "Failed" }),
      entry({ id: "tried", revision: "abc", action: "dry-run" }),
      entry({ id: "part", revision: "abc", action: "partial" }),
    ]);
    expect(list).toHaveLength(4);
    expect(list.filter((p) => p.deployment !== undefined).map((p) => p.key)).toEqual(["deployment 0"]);
  });

  test("of several sources any one that moved tells them apart, and one deployment takes one entry", () => {
    const list = compose(
      resource([
        { id: 1, revisions: ["a", "x"], deployedAt: "2026-03-01T12:00:00Z" },
        { id: 2, revisions: ["b", "x"], deployedAt: "2026-03-01T12:00:02Z" },
      ]),
      [
        entry({ id: "second", sources: [{ revision: "b" }, { revision: "x" }], finishedAt: "2026-03-01T12:00:02Z" }),
        entry({ id: "first", sources: [{ revision: "a" }, { revision: "x" }] }),
      ],
    );
    expect(list.map((p) => [p.key, p.deployment, p.current])).toEqual([
      ["second", 2, true],
      ["first", 1, false],
    ]);
  });

  test("a rollback holds one and keeps another away", () => {
    const list = compose(
      resource(
        [
          { id: 0, revision: "good", deployedAt: "2026-03-01T12:00:00Z" },
          { id: 1, revision: "bad", deployedAt: "2026-03-01T13:00:00Z" },
        ],
        { "slipway.io/rollback": '{"id":0,"revisions":["good"],"quarantine":{"revisions":["bad"]}}' },
      ),
      [],
    );
    expect(list.map((p) => [p.revisions[0], p.pinned, p.quarantined])).toEqual([
      ["bad", false, true],
      ["good", true, false],
    ]);
  });

  test("a rollback that does not say the revision of each source holds nothing", () => {
    for (const revisions of ["[]", '[""]', '["good","other"]']) {
      const [only] = compose(
        resource([{ id: 0, revision: "good", deployedAt: "2026-03-01T12:00:00Z" }], {
          "slipway.io/rollback": `{"id":0,"revisions":${revisions}}`,
        }),
        [],
      );
      expect(only?.pinned).toBe(false);
    }
  });

  test("a rollback that the engine does not know of holds nothing", () => {
    const list = compose(
      resource([{ id: 0, revision: "good", deployedAt: "2026-03-01T12:00:00Z" }], {
        "slipway.io/rollback": '{"id":0,"revisions":["good"],"quarantine":{"revisions":["good"]}}',
      }),
      [],
      [{ command: "application.unpin", message: "Argo CD has no pin" }],
    );
    expect(list[0]).toMatchObject({ pinned: false, quarantined: false });
  });

  test("annotations that nobody can read count for nothing", () => {
    const list = compose(
      resource([{ id: 0, revision: "a", deployedAt: "2026-03-01T12:00:00Z" }], {
        "slipway.io/rollback": "{",
        "slipway.io/history-notes": "null",
      }),
      [],
    );
    expect(list[0]).toMatchObject({ pinned: false, subject: "" });
  });
});

test("two deployments of one second are compared at the moment in which each finished", () => {
  const list = compose(
    resource([
      { id: 1, revision: "abc", deployedAt: "2026-03-01T12:00:00Z" },
      { id: 2, revision: "def", deployedAt: "2026-03-01T12:00:00Z" },
    ]),
    [
      entry({ id: "second", revision: "def", finishedAt: "2026-03-01T12:00:00.730002Z" }),
      entry({ id: "first", revision: "abc", finishedAt: "2026-03-01T12:00:00.730001Z" }),
    ],
  );
  expect(list.map((p) => [p.deployment, momentOf(p)])).toEqual([
    [2, "2026-03-01T12:00:00.730002Z"],
    [1, "2026-03-01T12:00:00.730001Z"],
  ]);
});

test("a deployment that the ledger does not have counts to the end of its second", () => {
  const [only] = compose(resource([{ id: 1, revision: "abc", deployedAt: "2026-03-01T12:00:00Z" }]), []);
  expect(only && momentOf(only)).toBe("2026-03-01T12:00:01.000Z");
});
