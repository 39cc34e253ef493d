import { expect, it } from "vitest";
import { behind, cellOf, placesOf } from "./columns";
import type { Cell, Row } from "./data";

const cell = (environment: string, type?: "Production" | "PreProduction"): Cell => ({
  environment,
  health: "Healthy",
  sync: "Synced",
  ready: 1,
  total: 1,
  applications: [],
  ...(type ? { type } : {}),
});

const row: Row = {
  service: "account.shop",
  name: "shop",
  scope: "account",
  cells: [cell(""), cell("account.live", "Production"), cell("account.test", "PreProduction"), cell("account.dev")],
  drift: [{ environment: "account.live", version: "1", behind: "account.test", newest: "2", by: "version" }],
};

it("environments stand on the way that changes take", () => {
  expect(placesOf([row], []).map((p) => p.name)).toEqual(["dev", "test", "live", "No environment"]);
});

it("an environment is called what people call it", () => {
  const known = [{ id: "account.live", name: "live", displayName: "What customers see", type: "Production" as const }];
  expect(placesOf([row], known).map((p) => p.name)).toEqual(["dev", "test", "What customers see", "No environment"]);
});

it("a cell knows whether it is behind", () => {
  expect(behind(row, "account.live")?.newest).toBe("2");
  expect(behind(row, "account.test")).toBeUndefined();
  expect(cellOf(row, "account.none")).toBeUndefined();
});
