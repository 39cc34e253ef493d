import { expect, test, vi } from "vitest";
import { gather } from "./gather";

type Ask = (group: string, keys: string[]) => Promise<string[]>;

const echo = () => vi.fn<Ask>(async (group, keys) => keys.map((key) => `${group} ${key}`));

test("what is wanted at once is asked for at once, each key once", async () => {
  const ask = echo();
  const get = gather(50, 0, ask);
  const answers = await Promise.all(["a", "b", "a"].map((key) => get("shop", "shop", key)));
  expect(answers).toEqual(["shop a", "shop b", "shop a"]);
  expect(ask.mock.calls).toEqual([["shop", ["a", "b"]]]);
});

test("no question has more keys than are allowed, and none is of two groups", async () => {
  const ask = echo();
  const get = gather(2, 0, ask);
  const keys = ["a", "b", "c", "d", "e"];
  const wanted = keys.map((key) => get("shop", "shop", key));
  expect(await Promise.all([...wanted, get("cart", "cart", "a")])).toEqual([
    ...keys.map((key) => `shop ${key}`),
    "cart a",
  ]);
  expect(ask.mock.calls).toEqual([
    ["shop", ["a", "b"]],
    ["shop", ["c", "d"]],
    ["shop", ["e"]],
    ["cart", ["a"]],
  ]);
});

test("what comes after a question was sent is asked for with the next, also after a failure", async () => {
  const ask = echo();
  ask.mockRejectedValueOnce(new Error("away"));
  const get = gather(50, 0, ask);
  await expect(get("shop", "shop", "a")).rejects.toThrow("away");
  expect(await get("shop", "shop", "a")).toBe("shop a");
});
