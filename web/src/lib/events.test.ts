// @vitest-environment jsdom
import { afterEach, describe, expect, it, vi } from "vitest";

const request = vi.hoisted(() => vi.fn<(path: string, init: RequestInit) => Promise<Response>>());
vi.mock("@/api/client", () => ({ request, ApiError: Error }));

import { events } from "./events";

// stream answers with some text and is silent then, until the page gives it up.
function stream(text: string, signal: AbortSignal | null | undefined): Response {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(text));
      signal?.addEventListener("abort", () => controller.error(new Error("given up")));
    },
  });
  return { body } as Response;
}

// asked are the places that the page reads on from.
function asked(): (string | undefined)[] {
  return request.mock.calls.map(([, init]) => (init.headers as Record<string, string>)["Last-Event-ID"]);
}

describe("the stream of events", () => {
  afterEach(() => {
    events.stop();
    vi.useRealTimers();
  });

  it("is opened again where it was when the server is silent for 25 s", async () => {
    vi.useFakeTimers();
    const event = 'id: 7\ndata: {"id":"7","type":"role.changed","at":"","object":{"type":"role","id":"a"}}\n\n';
    request.mockImplementation((_, init) => Promise.resolve(stream(event, init.signal)));
    const heard: string[] = [];
    const off = events.listen((e) => heard.push(e.id));
    events.start();
    await vi.advanceTimersByTimeAsync(24_000);
    expect(asked()).toEqual([undefined]);
    expect(heard).toEqual(["7"]);
    await vi.advanceTimersByTimeAsync(3_000);
    expect(asked()).toEqual([undefined, "7"]);
    off();
  });
});
