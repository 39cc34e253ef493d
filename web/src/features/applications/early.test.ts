import { readFileSync } from "node:fs";
import { runInThisContext } from "node:vm";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { pageQuery, summaryQuery } from "./data";
import { defaultSort, filterOf } from "./filter";
import { sessionQuery } from "@/lib/session";
import { forgetEarly } from "@/api/early";

let asked: string[];
let status: number;
let who: object;

// begin opens an address, as far as the first script of the page goes, some ms ago.
function begin(pathname: string, search = "", ago = 300) {
  vi.stubGlobal("location", { pathname, search, origin: "http://localhost" });
  runInThisContext(readFileSync("public/first.js", "utf8"));
  vi.spyOn(performance, "now").mockReturnValue(ago);
}

const { signal } = new AbortController();
const read = (query: { queryFn?: unknown }) => (query.queryFn as (context: object) => Promise<unknown>)({ signal });
const list = () => read(pageQuery(filterOf({}), defaultSort, 1));

beforeEach(() => {
  asked = [];
  status = 200;
  who = { grants: [{ scope: "account", permissions: ["application_view"] }] };
  vi.stubGlobal("matchMedia", () => ({ matches: false }));
  vi.stubGlobal("localStorage", { getItem: () => null });
  vi.stubGlobal("document", { documentElement: { classList: { toggle: () => true } } });
  vi.stubGlobal("fetch", (what: Request | string) => {
    asked.push(typeof what === "string" ? what : what.url.replace("http://localhost", ""));
    return Promise.resolve(Response.json({ items: [], ...who }, { status }));
  });
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  forgetEarly();
});

it("the list of applications is what the first script asks for, and each answer counts once", async () => {
  begin("/applications");
  await vi.waitFor(() => expect(asked).toHaveLength(3));
  await Promise.all([read(sessionQuery), list(), read(summaryQuery(filterOf({})))]);
  expect(asked).toHaveLength(3);
  await list();
  expect(asked).toHaveLength(4);
});

it("where another list is wanted nothing is asked for that nobody reads", () => {
  begin("/applications", "?health=Degraded");
  expect(asked).toEqual(["/api/v1/session"]);
});

it("who comes to sign in is not asked who they are", () => {
  begin("/sign-in");
  expect(asked).toEqual([]);
});

it("who may not see it, or has to choose a password first, is not asked for it", async () => {
  for (const one of [{ grants: [] }, { ...who, user: { mustChangePassword: true } }]) {
    asked = [];
    who = one;
    begin("/applications");
    await read(sessionQuery);
    await list();
    expect(asked).toEqual(["/api/v1/session", expect.stringContaining("/fleet/applications")]);
  }
});

it("an answer that nobody took for long is old", async () => {
  begin("/applications", "", 20_000);
  await vi.waitFor(() => expect(asked).toHaveLength(3));
  await list();
  expect(asked).toHaveLength(4);
});

it("for nobody there is no list, and whoever signs in asks for it", async () => {
  status = 401;
  begin("/applications");
  expect(await read(sessionQuery)).toBeNull();
  expect(asked).toHaveLength(1);
  status = 200;
  await list();
  expect(asked).toHaveLength(2);
});
