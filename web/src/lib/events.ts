import { useSyncExternalStore } from "react";
import { ApiError, request } from "@/api/client";
import type { Event } from "@/api/event";
import { readMessages } from "./sse";

export type Connection = "connecting" | "live" | "offline";
type Listener = (event: Event) => void;

// The server shows each 15 s that it is there. What is silent for longer than this is dead: a laptop slept, a network changed.
const silence = 25_000;
// Who looks at another tab for this long needs no stream; what was missed is read on return.
const hiddenFor = 120_000;
const backoff = [0, 500, 1_000, 2_000, 5_000, 10_000];

// EventStream keeps one stream of changes open and reads on after every break where it was, so that nothing is missed.
class EventStream {
  private listeners = new Set<Listener>();
  private watchers = new Set<() => void>();
  private state: Connection = "connecting";
  private last = "";
  private heard = 0;
  private attempt = 0;
  private abort: AbortController | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private hidden: ReturnType<typeof setTimeout> | undefined;
  private pulse: ReturnType<typeof setInterval> | undefined;
  private running = false;

  start(): void {
    if (this.running) {
      return;
    }
    this.running = true;
    document.addEventListener("visibilitychange", this.look);
    addEventListener("online", this.wake);
    addEventListener("pageshow", this.look);
    // A machine that wakes up notifies no page: a clock that jumped does.
    let before = Date.now();
    this.pulse = setInterval(() => {
      const slept = Date.now() - before > 6_000;
      before = Date.now();
      if (slept && document.visibilityState === "visible") {
        this.wake();
      }
    }, 1_000);
    this.connect();
  }

  stop(): void {
    this.running = false;
    document.removeEventListener("visibilitychange", this.look);
    removeEventListener("online", this.wake);
    removeEventListener("pageshow", this.look);
    clearTimeout(this.timer);
    clearTimeout(this.hidden);
    clearInterval(this.pulse);
    this.abort?.abort();
    this.abort = null;
    this.last = "";
    this.set("connecting");
  }

  listen(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  watch = (watcher: () => void): (() => void) => {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  };

  connection = (): Connection => this.state;

  private set(state: Connection): void {
    if (this.state !== state) {
      this.state = state;
      for (const watcher of this.watchers) {
        watcher();
      }
    }
  }

  // look closes the stream of a tab that is hidden, and opens it again immediately when it is visible.
  private look = (): void => {
    clearTimeout(this.hidden);
    if (document.visibilityState === "hidden") {
      this.hidden = setTimeout(() => {
        clearTimeout(this.timer);
        this.abort?.abort();
        this.abort = null;
      }, hiddenFor);
      return;
    }
    if (!this.abort || Math.abs(Date.now() - this.heard) > silence) {
      this.wake();
    }
  };

  private wake = (): void => {
    if (!this.running) {
      return;
    }
    this.attempt = 0;
    clearTimeout(this.timer);
    this.abort?.abort();
    this.connect();
  };

  private again(): void {
    if (!this.running || document.visibilityState === "hidden") {
      return;
    }
    const wait = backoff[Math.min(this.attempt++, backoff.length - 1)] ?? 0;
    this.timer = setTimeout(() => this.connect(), wait * (0.75 + Math.random() / 2));
  }

  private connect(): void {
    const abort = new AbortController();
    this.abort = abort;
    void this.read(abort)
      .catch((error: unknown) => {
        if (error instanceof ApiError && error.status === 401) {
          this.running = false; // signed out: the next request shows it
        }
      })
      .finally(() => {
        if (this.abort === abort) {
          this.abort = null;
          if (this.running) {
            this.set(this.attempt > 1 ? "offline" : "connecting");
            this.again();
          }
        }
      });
  }

  private async read(abort: AbortController): Promise<void> {
    const headers: Record<string, string> = { Accept: "text/event-stream" };
    if (this.last) {
      headers["Last-Event-ID"] = this.last;
    }
    let watchdog = setTimeout(() => abort.abort(), silence);
    const alive = () => {
      this.heard = Date.now();
      clearTimeout(watchdog);
      watchdog = setTimeout(() => abort.abort(), silence);
    };
    try {
      const response = await request("/api/v1/events", { headers, signal: abort.signal, cache: "no-store" });
      alive();
      const first = !this.last && this.attempt > 0;
      this.attempt = 0;
      this.set("live");
      if (first) {
        // It broke before any event came, so there is no place to read on from: all that is shown may be old.
        this.tell({ id: "", type: "reset", at: new Date().toISOString(), object: { type: "", id: "" } });
      }
      await readMessages(
        response,
        (message) => {
          this.last = message.id || this.last;
          try {
            this.tell(JSON.parse(message.data) as Event);
          } catch {
            // what cannot be read is left out; the next look at the list shows it
          }
        },
        alive,
      );
    } finally {
      clearTimeout(watchdog);
    }
  }

  private tell(event: Event): void {
    for (const listener of this.listeners) {
      listener(event);
    }
  }
}

export const events = new EventStream();

// useConnection says whether what is shown is live.
export function useConnection(): Connection {
  return useSyncExternalStore(events.watch, events.connection);
}
