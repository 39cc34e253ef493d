import { describe, expect, it } from "vitest";
import { parseSearch, stringifySearch } from "@/lib/search";
import { chips, chosen, type Filter, filterOf, narrows, queryOf, searchOf, sortOf, toggle } from "./filter";

const whole: Filter = {
  search: "shop",
  scope: "org.acme",
  agent: "account.prod",
  health: ["Degraded", "Missing"],
  sync: ["OutOfSync"],
  held: true,
  driftOlder: "7d",
  labels: { team: "a=b", tier: "" },
};

describe("a filter in an address", () => {
  it("comes back as it was", () => {
    expect(filterOf(parseSearch(stringifySearch(searchOf(whole))))).toEqual(whole);
  });

  it("leaves out what the API does not know", () => {
    expect(filterOf(parseSearch("?health=Fine&health=Degraded&type=Prod&held=1&nonsense=x&agent=+"))).toEqual({
      health: ["Degraded"],
    });
  });

  it("is sent with labels as the API reads them", () => {
    expect(queryOf({ labels: { team: "shop", tier: "" }, held: true })).toEqual({
      held: true,
      label: ["team=shop", "tier"],
    });
  });

  it("sorts only by what can be sorted by", () => {
    expect(sortOf({ sort: "-finishedAt" })).toBe("-finishedAt");
    expect(sortOf({ sort: "message" })).toBe("attention");
    expect(sortOf({})).toBe("attention");
  });

  it("narrows only where it says something", () => {
    expect(narrows(filterOf({ view: "tiles", sort: "name" }))).toBe(false);
    expect(narrows({ stale: true })).toBe(true);
  });
});

describe("choosing a value", () => {
  it("adds to health and takes back from it", () => {
    const two = toggle(toggle({}, "health", "Degraded"), "health", "Missing");
    expect(two).toEqual({ health: ["Degraded", "Missing"] });
    expect(toggle(toggle(two, "health", "Missing"), "health", "Degraded")).toEqual({});
  });

  it("takes another agent in place of the one before", () => {
    expect(toggle(toggle({}, "agent", "a"), "agent", "b")).toEqual({ agent: "b" });
    expect(toggle({ agent: "b" }, "agent", "b")).toEqual({});
  });

  it("puts labels together", () => {
    const two = toggle(toggle({}, "label", "team=shop"), "label", "tier=web");
    expect(two.labels).toEqual({ team: "shop", tier: "web" });
    expect(toggle(toggle(two, "label", "team=shop"), "label", "tier=web")).toEqual({});
  });

  it("knows flags", () => {
    expect(chosen(toggle({}, "held", "true"), "held")).toEqual(["true"]);
    expect(toggle({ held: true }, "held", "true")).toEqual({});
  });
});

it("each condition but the text is shown", () => {
  expect(chips(whole).map((c) => `${c.dimension}:${c.value}`)).toEqual([
    "sync:OutOfSync",
    "health:Degraded",
    "health:Missing",
    "scope:org.acme",
    "agent:account.prod",
    "driftOlder:7d",
    "held:true",
    "label:team=a=b",
    "label:tier",
  ]);
});
