import { QueryClient, QueryObserver } from "@tanstack/react-query";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { leave, paced, rereading, rereadingType } from "./reread";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

// slow is a query that takes so many ms, with how often it was asked for.
async function slow(ms: number) {
  const cache = new QueryClient();
  const ask = vi.fn<() => Promise<number>>(
    () => new Promise<number>((resolve) => setTimeout(() => resolve(ask.mock.calls.length), ms)),
  );
  const end = new QueryObserver(cache, { queryKey: ["a", 1], queryFn: ask }).subscribe(() => undefined);
  return { cache, ask, end };
}

test("what is told many times within a moment is read once", async () => {
  const { cache, ask, end } = await slow(10);
  await vi.advanceTimersByTimeAsync(10);
  const { soon } = rereading(cache, { queryKey: ["a"] }, 100);
  soon();
  soon();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(ask).toHaveBeenCalledTimes(2);
  end();
});

test("a clock that is set back by an hour puts off nothing", async () => {
  const act = vi.fn<() => Promise<void>>(() => Promise.resolve());
  const { soon } = paced(act, 100, 4_000);
  soon();
  await vi.advanceTimersByTimeAsync(100);
  expect(act).toHaveBeenCalledTimes(1);
  vi.setSystemTime(Date.now() - 3_600_000);
  soon();
  await vi.advanceTimersByTimeAsync(4_000);
  expect(act).toHaveBeenCalledTimes(2);
});

test("the page of an object that is being deleted asks for it no more, and for others as ever", async () => {
  const cache = new QueryClient();
  const asked: string[] = [];
  const watch = (name: string) =>
    new QueryObserver(cache, {
      queryKey: ["a", "one", name],
      queryFn: () => Promise.resolve(asked.push(name)),
    }).subscribe(() => undefined);
  const ends = [watch("going"), watch("/agents/going/commands"), watch("staying")];
  await vi.advanceTimersByTimeAsync(10);
  const { soon } = rereadingType(cache, "a", 100);
  soon(); // of a change just before
  await leave("going", async () => {
    await vi.advanceTimersByTimeAsync(1_000);
    soon();
    await vi.advanceTimersByTimeAsync(1_000);
  });
  expect(asked.filter((name) => name === "going")).toHaveLength(1);
  expect(asked.filter((name) => name === "/agents/going/commands")).toHaveLength(1);
  expect(asked.filter((name) => name === "staying").length).toBeGreaterThan(1);
  await expect(leave("going", () => Promise.reject(new Error("refused")))).rejects.toThrow("refused");
  soon(); // it is still there
  await vi.advanceTimersByTimeAsync(1_000);
  expect(asked.filter((name) => name === "going")).toHaveLength(2);
  for (const end of ends) {
    end();
  }
});

test("what is told while it is read is read once more, after that", async () => {
  const { cache, ask, end } = await slow(500);
  await vi.advanceTimersByTimeAsync(500);
  const { soon } = rereading(cache, { queryKey: ["a"] }, 100);
  soon();
  await vi.advanceTimersByTimeAsync(300);
  soon();
  soon();
  await vi.advanceTimersByTimeAsync(200);
  expect(ask).toHaveBeenCalledTimes(2);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(ask).toHaveBeenCalledTimes(3);
  end();
});

test("an answer that was asked for before the change does not count", async () => {
  const { cache, ask, end } = await slow(500);
  const { soon } = rereading(cache, { queryKey: ["a"] }, 100);
  soon();
  await vi.advanceTimersByTimeAsync(2_000);
  expect(ask).toHaveBeenCalledTimes(2);
  end();
});

test("it rests between two times, and ends", async () => {
  const { cache, ask, end } = await slow(0);
  await vi.advanceTimersByTimeAsync(1);
  const { soon, stop } = rereading(cache, { queryKey: ["a"] }, 100, 1_000);
  soon();
  await vi.advanceTimersByTimeAsync(150);
  expect(ask).toHaveBeenCalledTimes(2);
  soon();
  await vi.advanceTimersByTimeAsync(500);
  expect(ask).toHaveBeenCalledTimes(2);
  await vi.advanceTimersByTimeAsync(500);
  expect(ask).toHaveBeenCalledTimes(3);
  soon();
  stop();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(ask).toHaveBeenCalledTimes(3);
  end();
});

test("while much happens counts are read each few seconds, and lists at their own pace", async () => {
  const cache = new QueryClient();
  const asked = { list: 0, summary: 0 };
  const ends = (["list", "summary"] as const).map((what) =>
    new QueryObserver(cache, {
      queryKey: ["application", what],
      queryFn: () => Promise.resolve(++asked[what]),
    }).subscribe(() => undefined),
  );
  await vi.advanceTimersByTimeAsync(1);
  const { soon, stop } = rereadingType(cache, "application", 100, 500);
  soon();
  await vi.advanceTimersByTimeAsync(150);
  expect(asked).toEqual({ list: 2, summary: 2 }); // the first change is counted at once
  for (let ms = 0; ms < 8_000; ms += 50) {
    soon();
    await vi.advanceTimersByTimeAsync(50);
  }
  expect(asked.summary).toBe(4);
  expect(asked.list).toBeGreaterThan(14);
  await vi.advanceTimersByTimeAsync(10_000);
  const last = { ...asked };
  await vi.advanceTimersByTimeAsync(60_000);
  expect(asked).toEqual(last); // nothing happens, and nothing is asked
  stop();
  ends.forEach((end) => end());
});

test("what is told while it is done, or fails, is done once more", async () => {
  const act = vi.fn<() => Promise<void>>(
    () => new Promise((_, fail) => setTimeout(() => fail(new Error("away")), 300)),
  );
  const { soon, stop } = paced(act, 100);
  soon();
  await vi.advanceTimersByTimeAsync(200);
  soon();
  soon();
  await vi.advanceTimersByTimeAsync(2_000);
  expect(act).toHaveBeenCalledTimes(2);
  soon();
  stop();
  await vi.advanceTimersByTimeAsync(2_000);
  expect(act).toHaveBeenCalledTimes(2);
});
