import { ApiError, request } from "@/api/client";
import { type App, basePath } from "@/lib/application";
import { readMessages } from "@/lib/sse";
import { LogBuffer, type Line } from "./log-buffer";
import type { Ref } from "./object-query";

// Ask is which log is read, and how.
export interface Ask {
  // target is a pod or what has pods; undefined for all pods of the application.
  target: Ref | undefined;
  container: string;
  follow: boolean;
  previous: boolean;
  // since is how far back, in seconds; 0 for all.
  since: number;
  tail: number;
  search: string;
  invert: boolean;
  ignoreCase: boolean;
  timestamps: boolean;
}

export interface LogState {
  lines: Line[];
  // total is how many lines came, with those that are not kept any more.
  total: number;
  state: "reading" | "live" | "ended" | "broken";
  error: unknown;
}

// queryOf writes it as the API reads it. since is another point to begin at, as a time.
export function queryOf(ask: Ask, since?: string): string {
  const query = new URLSearchParams();
  const set = (name: string, value: string | number | boolean | undefined) => {
    if (value !== undefined && value !== "" && value !== 0 && value !== false) {
      query.set(name, String(value));
    }
  };
  set("group", ask.target?.group);
  set("version", ask.target?.version);
  set("kind", ask.target?.kind);
  set("resourceNamespace", ask.target?.namespace);
  set("resourceName", ask.target?.name);
  set("container", ask.container);
  set("follow", ask.follow);
  set("previous", ask.previous);
  set("search", ask.search);
  set("invert", ask.invert && ask.search !== "");
  set("ignoreCase", ask.ignoreCase && ask.search !== "");
  set("timestamps", ask.timestamps);
  if (since) {
    set("sinceTime", since);
  } else {
    set("since", ask.since);
    set("tail", ask.tail);
  }
  return query.toString();
}

// prefixed is how names of pods begin that stand in front of lines: of an application any, of a workload its own name, which
// its pods' names begin with. What one container says has nothing in front.
export function prefixed(ask: Ask): string | undefined {
  if (!ask.target) {
    return "";
  }
  return ask.target.kind === "Pod" && ask.container ? undefined : ask.target.name;
}

const together = 100; // lines of so many ms are shown together
const backoff = [500, 1_000, 3_000, 8_000];

// LogStream reads a log into a buffer, and goes on after a break from when it was last heard.
export class LogStream {
  private readonly buffer = new LogBuffer();
  private snapshot: LogState = { lines: [], total: 0, state: "reading", error: undefined };
  private watchers = new Set<() => void>();
  private abort: AbortController | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private flushing: ReturnType<typeof setTimeout> | undefined;
  private came: string[] = [];
  private attempt = 0;
  private heard = "";

  constructor(
    private readonly app: App,
    private readonly ask: Ask,
  ) {}

  get = (): LogState => this.snapshot;

  subscribe = (watcher: () => void): (() => void) => {
    this.watchers.add(watcher);
    if (this.watchers.size === 1) {
      // A reader that reconnects starts from the beginning: the lines in between are not known.
      this.buffer.clear();
      this.came = [];
      this.heard = "";
      addEventListener("online", this.wake);
      this.connect();
    }
    return () => {
      this.watchers.delete(watcher);
      if (this.watchers.size === 0) {
        removeEventListener("online", this.wake);
        clearTimeout(this.timer);
        clearTimeout(this.flushing);
        this.flushing = undefined;
        this.abort?.abort();
        this.abort = undefined;
      }
    };
  };

  private wake = (): void => {
    if (this.snapshot.state === "broken") {
      clearTimeout(this.timer);
      this.attempt = 0;
      this.connect();
    }
  };

  private connect(): void {
    const abort = new AbortController();
    this.abort = abort;
    void this.read(abort).then(
      () => this.ended(abort, undefined),
      (error: unknown) => this.ended(abort, error),
    );
  }

  private ended(abort: AbortController, error: unknown): void {
    if (this.abort !== abort) {
      return;
    }
    this.flush();
    const final = error instanceof ApiError && error.status !== 0 && error.status !== 503 && error.status !== 429;
    if (!this.ask.follow || final) {
      this.set({ state: error ? "broken" : "ended", error });
      return;
    }
    this.set({ state: "broken", error });
    const wait = backoff[Math.min(this.attempt++, backoff.length - 1)] ?? 0;
    this.timer = setTimeout(() => this.connect(), wait * (0.75 + Math.random() / 2));
  }

  private async read(abort: AbortController): Promise<void> {
    const query = queryOf(this.ask, this.heard || undefined);
    const response = await request(`${basePath(this.app)}/logs?${query}`, {
      headers: { Accept: "text/event-stream" },
      signal: abort.signal,
      cache: "no-store",
    });
    this.set({ state: this.ask.follow ? "live" : "reading", error: undefined });
    let said: unknown;
    await readMessages(response, (message) => {
      if (message.event === "error") {
        said = new ApiError(422, { detail: message.data, code: "invalid" });
        return;
      }
      this.attempt = 0;
      this.heard = new Date().toISOString();
      this.came.push(message.data);
      this.flushing ??= setTimeout(() => this.flush(), together);
    });
    if (said) {
      throw said;
    }
  }

  private flush(): void {
    clearTimeout(this.flushing);
    this.flushing = undefined;
    if (this.came.length > 0) {
      this.buffer.push(this.came, prefixed(this.ask), this.ask.timestamps);
      this.came = [];
      this.set({ lines: this.buffer.view(), total: this.buffer.total });
    }
  }

  private set(to: Partial<LogState>): void {
    this.snapshot = { ...this.snapshot, ...to };
    for (const watcher of this.watchers) {
      watcher();
    }
  }
}
