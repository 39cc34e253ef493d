import { expect, it } from "vitest";
import { generatorsOf, type SetItem, stateOf, workedOn } from "./set-state";

const item = (resource: unknown) => ({ resource }) as SetItem;
const conditions = (...list: [type: string, status: string][]) =>
  item({ status: { conditions: list.map(([type, status]) => ({ type, status })) } });

it("names generators once, and no selector", () => {
  expect(
    generatorsOf(item({ spec: { generators: [{ git: {} }, { clusters: {}, selector: {} }, { git: {} }] } })),
  ).toEqual(["git", "clusters"]);
  expect(generatorsOf(item(undefined))).toEqual([]);
});

it("puts what failed before what is up to date", () => {
  expect(stateOf(conditions(["ResourcesUpToDate", "True"], ["ErrorOccurred", "True"])).status).toBe("Failed");
  expect(stateOf(conditions(["ErrorOccurred", "False"], ["ResourcesUpToDate", "True"])).status).toBe("Synced");
  expect(stateOf(conditions(["ErrorOccurred", "False"])).status).toBe("Progressing");
  expect(stateOf(item({})).label).toBe("Not processed");
});

it.each([
  [{}, false],
  [{ status: {} }, false],
  [{ status: { conditions: [], resources: [] } }, false],
  [{ status: { conditions: [{ type: "ResourcesUpToDate", status: "True" }] } }, true],
  [{ status: { resources: [{ kind: "Application" }] } }, true],
])("a controller is known by what it wrote: %j", (resource, known) => {
  expect(workedOn({ resource } as unknown as SetItem)).toBe(known);
});
