import { ApiError, request } from "@/api/client";
import { type App, basePath } from "@/lib/application";
import { readMessages } from "@/lib/sse";
import type { Node } from "./model";

// What a live tree says, as the server sends it.
interface TreeState {
  nodes: Node[] | null;
  warnings?: string[] | null;
}
interface TreePatch {
  set?: Node[] | null;
  remove?: string[] | null;
}

// Tree is a live tree as it is now. nodes is another list after each change.
export interface Tree {
  nodes: Node[];
  warnings: string[];
}

export interface Snapshot {
  tree: Tree | undefined;
  // live is true while changes arrive automatically.
  live: boolean;
  // error is why the stream is not open; the last tree stays.
  error: unknown;
}

// merge puts a patch into the nodes of a tree.
export function merge(nodes: Map<string, Node>, patch: TreePatch): void {
  for (const id of patch.remove ?? []) {
    nodes.delete(id);
  }
  for (const node of patch.set ?? []) {
    nodes.set(node.id, node);
  }
}

const silence = 40_000; // the server shows each 15 s that it is there
const backoff = [300, 1_000, 2_000, 5_000, 10_000];
const together = 80; // changes of so many ms are shown together

// TreeStream keeps the tree of one application at what the cluster says, and opens its stream again after each break: then
// the whole tree is sent again, so nothing is missed.
export class TreeStream {
  private snapshot: Snapshot = { tree: undefined, live: false, error: undefined };
  private nodes = new Map<string, Node>();
  private warnings: string[] = [];
  private watchers = new Set<() => void>();
  private abort: AbortController | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private told: ReturnType<typeof setTimeout> | undefined;
  private pulse: ReturnType<typeof setInterval> | undefined;
  private attempt = 0;
  private held = false;
  private readonly path: string;

  constructor(app: App) {
    this.path = `${basePath(app)}/tree/events`;
  }

  get = (): Snapshot => this.snapshot;

  // subscribe keeps the stream open while there is a reader.
  subscribe = (watcher: () => void): (() => void) => {
    this.watchers.add(watcher);
    if (this.watchers.size === 1) {
      this.start();
    }
    return () => {
      this.watchers.delete(watcher);
      if (this.watchers.size === 0) {
        this.stop();
      }
    };
  };

  // hold ends the attempts to open the stream while no server can answer, and begins them again. The last tree stays.
  hold(on: boolean): void {
    if (this.held === on) {
      return;
    }
    this.held = on;
    if (this.watchers.size === 0) {
      return;
    }
    if (on) {
      clearTimeout(this.timer);
      this.abort?.abort();
      this.abort = undefined;
      this.set({ live: false });
    } else {
      this.wake();
    }
  }

  private start(): void {
    addEventListener("online", this.wake);
    addEventListener("pageshow", this.wake);
    // A machine that wakes up notifies no page: a clock that jumped does.
    let before = Date.now();
    this.pulse = setInterval(() => {
      const slept = Date.now() - before > 6_000;
      before = Date.now();
      if (slept) {
        this.wake();
      }
    }, 1_000);
    this.connect();
  }

  private stop(): void {
    removeEventListener("online", this.wake);
    removeEventListener("pageshow", this.wake);
    clearInterval(this.pulse);
    clearTimeout(this.timer);
    clearTimeout(this.told);
    this.abort?.abort();
    this.abort = undefined;
    this.snapshot = { ...this.snapshot, live: false };
  }

  private wake = (): void => {
    this.attempt = 0;
    clearTimeout(this.timer);
    this.abort?.abort();
    this.connect();
  };

  private connect(): void {
    if (this.held) {
      return;
    }
    const abort = new AbortController();
    this.abort = abort;
    void this.read(abort)
      .then(
        () => undefined,
        (error: unknown) => error,
      )
      .then((error) => {
        if (this.abort !== abort) {
          return; // another one took its place
        }
        this.set({ live: false, error: error ?? this.snapshot.error });
        if (error instanceof ApiError && [401, 403, 404, 405, 501].includes(error.status)) {
          return; // asking again does not help
        }
        const wait = backoff[Math.min(this.attempt++, backoff.length - 1)] ?? 0;
        this.timer = setTimeout(() => this.connect(), wait * (0.75 + Math.random() / 2));
      });
  }

  private async read(abort: AbortController): Promise<void> {
    let watchdog = setTimeout(() => abort.abort(), silence);
    const alive = () => {
      clearTimeout(watchdog);
      watchdog = setTimeout(() => abort.abort(), silence);
    };
    try {
      const headers = { Accept: "text/event-stream" };
      const response = await request(this.path, { headers, signal: abort.signal, cache: "no-store" });
      await readMessages(response, (message) => this.take(message.event, message.data), alive);
    } finally {
      clearTimeout(watchdog);
    }
  }

  private take(event: string, text: string): void {
    if (event === "error") {
      this.set({ live: false, error: new ApiError(503, { detail: text, code: "unavailable" }) });
      return;
    }
    try {
      if (event === "tree") {
        const state = JSON.parse(text) as TreeState;
        this.nodes = new Map((state.nodes ?? []).map((n) => [n.id, n]));
        this.warnings = state.warnings ?? [];
        this.attempt = 0;
      } else if (event === "patch") {
        merge(this.nodes, JSON.parse(text) as TreePatch);
      } else {
        return; // of a later version
      }
    } catch {
      this.abort?.abort(); // what cannot be read leaves a hole: the next stream begins with the whole tree
      return;
    }
    if (event === "tree") {
      this.tell(); // a reader waits for it
    } else {
      this.told ??= setTimeout(this.tell, together);
    }
  }

  private tell = (): void => {
    clearTimeout(this.told);
    this.told = undefined;
    this.set({ tree: { nodes: [...this.nodes.values()], warnings: this.warnings }, live: true, error: undefined });
  };

  private set(to: Partial<Snapshot>): void {
    this.snapshot = { ...this.snapshot, ...to };
    for (const watcher of this.watchers) {
      watcher();
    }
  }
}
