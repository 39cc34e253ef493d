import { describe, expect, it } from "vitest";
import type { Schemas } from "@/api/client";
import { type Facet, facets, looser, optionsOf, others } from "./facets";

const counts = (values: Record<string, number>, rest = 0): Schemas["FleetCounts"] => ({
  values: Object.entries(values).map(([value, count]) => ({ value, count })),
  distinct: Object.keys(values).length,
  others: rest,
});

function summary(over: Partial<Schemas["FleetSummary"]>): Schemas["FleetSummary"] {
  const none = counts({});
  return {
    total: 0,
    held: 0,
    stale: 0,
    attention: none,
    sync: none,
    health: none,
    phase: none,
    driftAge: none,
    version: none,
    agent: none,
    cluster: none,
    environment: none,
    region: none,
    service: none,
    argoProject: none,
    scope: none,
    label: none,
    ...over,
  };
}

const facet = (dimension: string) => facets.find((f) => f.dimension === dimension) as Facet;

describe("counts beside the table", () => {
  it("are those without the facet's own condition, so that more can be chosen", () => {
    const filter = { health: ["Degraded" as const], agent: "account.a" };
    expect(looser(filter)).toEqual(["health", "agent"]);
    const options = optionsOf(facet("health"), filter, {
      all: summary({ health: counts({ Degraded: 3 }) }),
      without: { health: summary({ health: counts({ Healthy: 90, Degraded: 3 }) }) },
    });
    expect(options.map((o) => [o.value, o.count, o.on])).toEqual([
      ["Healthy", 90, false],
      ["Degraded", 3, true],
    ]);
  });

  it("keep a value that is chosen and counts nothing", () => {
    const options = optionsOf(facet("agent"), { agent: "account.gone" }, { all: summary({}), without: {} });
    expect(options).toEqual([{ dimension: "agent", value: "account.gone", label: "account.gone", count: 0, on: true }]);
  });

  it("leave out those that have no value: nothing finds them", () => {
    const options = optionsOf(
      facet("environment"),
      {},
      {
        all: summary({ environment: counts({ "": 7, "account.prod": 2 }) }),
        without: {},
      },
    );
    expect(options.map((o) => o.value)).toEqual(["account.prod"]);
  });

  it("put ages of drift together", () => {
    const options = optionsOf(
      facet("driftOlder"),
      {},
      {
        all: summary({ driftAge: counts({ "<1h": 1, "<1d": 2, "<7d": 4, ">=7d": 8 }) }),
        without: {},
      },
    );
    expect(options.map((o) => [o.value, o.count])).toEqual([
      ["1h", 14],
      ["1d", 12],
      ["7d", 8],
    ]);
  });

  it("say how many have values that are not listed", () => {
    expect(others(facet("agent"), { all: summary({ agent: counts({ a: 1 }, 40) }), without: {} })).toBe(40);
  });
});
