import { FitAddon } from "@xterm/addon-fit";
import { Terminal as Xterm } from "@xterm/xterm";
import "@xterm/xterm/css/xterm.css";
import { Plug } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import type { App } from "@/lib/application";
import { nonce } from "@/lib/csp";
import { Button } from "@/ui/button";
import { Select } from "@/ui/field";
import { ErrorNote } from "@/ui/states";
import { containersOf, objectOf } from "./manifest";
import type { Node } from "./model";
import { addressOf, clamp, type Ending, endOf, shells } from "./terminal-protocol";

// withNonce has style elements that are made in the meantime carry the nonce: the page's policy lets in no others. The terminal
// makes some while it opens; it takes another document to make them with, but for those of its scrollbar.
function withNonce(make: () => void): void {
  document.createElement = (tag: string, options?: ElementCreationOptions): HTMLElement => {
    const element = Document.prototype.createElement.call(document, tag, options);
    if (element instanceof HTMLStyleElement) {
      element.nonce = nonce;
    }
    return element;
  };
  try {
    make();
  } finally {
    Reflect.deleteProperty(document, "createElement"); // what every document has shows again
  }
}

const theme = {
  background: "#0e141a",
  foreground: "#e6ecf2",
  cursor: "#4fc7bd",
  selectionBackground: "#2a5c66",
};

type Phase = { state: "idle" | "opening" | "open" } | ({ state: "ended" } & Ending);

// open connects a terminal with a container, and returns what ends it.
function open(xterm: Xterm, address: string, tell: (phase: Phase) => void): () => void {
  const socket = new WebSocket(address);
  socket.binaryType = "arraybuffer";
  const encoder = new TextEncoder();
  let end: Ending | undefined;
  let opened = false;
  const send = (data: Uint8Array<ArrayBuffer>) => socket.readyState === WebSocket.OPEN && socket.send(data);
  const typed = xterm.onData((text) => {
    // A large paste goes in pieces that the server takes.
    const bytes = encoder.encode(text);
    for (let at = 0; at < bytes.length; at += 32_768) {
      send(bytes.slice(at, at + 32_768));
    }
  });
  const binary = xterm.onBinary((text) => send(Uint8Array.from(text, (c) => c.charCodeAt(0))));
  const resized = xterm.onResize(({ cols, rows }) => {
    if (socket.readyState === WebSocket.OPEN) {
      socket.send(JSON.stringify({ columns: clamp(cols), rows: clamp(rows) }));
    }
  });
  socket.addEventListener("open", () => {
    opened = true;
    tell({ state: "open" });
    socket.send(JSON.stringify({ columns: clamp(xterm.cols), rows: clamp(xterm.rows) }));
    xterm.focus();
  });
  socket.addEventListener("message", (event: MessageEvent<ArrayBuffer | string>) => {
    if (typeof event.data === "string") {
      end = endOf(event.data);
    } else {
      xterm.write(new Uint8Array(event.data));
    }
  });
  socket.addEventListener("close", (event) => {
    const why = !opened
      ? "The terminal could not be opened. The server is unreachable, or a proxy in front of it blocks WebSockets."
      : event.code === 1000
        ? "The terminal was closed."
        : "The connection was lost. The program in the terminal may have ended.";
    tell({ state: "ended", ...(end ?? { why }) });
  });
  return () => {
    for (const each of [typed, binary, resized]) {
      each.dispose();
    }
    socket.close();
  };
}

// Terminal is a shell in a container.
export default function Terminal({ app, node, object }: { app: App; node: Node; object: unknown }) {
  const host = useRef<HTMLDivElement>(null);
  const [phase, setPhase] = useState<Phase>({ state: "idle" });
  const [container, setContainer] = useState("");
  const [shell, setShell] = useState<string>("");
  const [session, setSession] = useState(0);
  const containers = containersOf(objectOf(object)).filter((c) => !c.init);
  const pod = node.name;
  const podNamespace = node.namespace ?? "";
  useEffect(() => {
    if (session === 0) {
      return undefined;
    }
    const box = host.current as HTMLDivElement;
    const xterm = new Xterm({
      fontFamily: getComputedStyle(document.body).getPropertyValue("--font-mono") || "monospace",
      fontSize: 13,
      cursorBlink: true,
      scrollback: 5_000,
      theme,
      screenReaderMode: false,
    });
    const fit = new FitAddon();
    xterm.loadAddon(fit);
    withNonce(() => xterm.open(box));
    fit.fit();
    setPhase({ state: "opening" });
    const how = { container, shell, columns: xterm.cols, rows: xterm.rows };
    const end = open(xterm, addressOf(app, { namespace: podNamespace, name: pod }, how, location.origin), setPhase);
    const watch = new ResizeObserver(() => fit.fit());
    watch.observe(box);
    return () => {
      watch.disconnect();
      end();
      xterm.dispose();
    };
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- another choice counts from the next session on
  }, [session, app, pod, podNamespace]);
  const busy = phase.state === "opening" || phase.state === "open";
  return (
    <div className="flex min-h-0 flex-1 flex-col gap-2">
      <div className="flex flex-wrap items-center gap-2">
        <Select
          aria-label="Container"
          value={container}
          disabled={busy}
          onChange={(event) => setContainer(event.target.value)}
          className="w-auto"
        >
          <option value="">First container</option>
          {containers.map((c) => (
            <option key={c.name}>{c.name}</option>
          ))}
        </Select>
        <Select
          aria-label="Shell"
          value={shell}
          disabled={busy}
          onChange={(event) => setShell(event.target.value)}
          className="w-auto"
        >
          {shells.map((s) => (
            <option key={s} value={s}>
              {s || "Any shell"}
            </option>
          ))}
        </Select>
        {busy ? (
          <Button onClick={() => (setSession(0), setPhase({ state: "ended", why: "You closed the terminal." }))}>
            Close terminal
          </Button>
        ) : (
          <Button look="primary" onClick={() => setSession((s) => s + 1)}>
            <Plug size={14} aria-hidden />
            {phase.state === "ended" ? "Open again" : "Open terminal"}
          </Button>
        )}
        <p role="status" className="text-sm text-muted">
          {phase.state === "opening" && "Opening…"}
          {phase.state === "open" && "Open. The audit log records that it was opened, not the input."}
          {phase.state === "ended" && "why" in phase && phase.why}
        </p>
      </div>
      {phase.state === "ended" && "error" in phase && <ErrorNote error={phase.error} />}
      <div
        ref={host}
        role="group"
        aria-label={`Terminal in ${pod}`}
        data-escape="own" // it is for the shell, not for the drawer around it
        className="min-h-80 flex-1 overflow-hidden rounded-md bg-[#0e141a] p-2"
      />
    </div>
  );
}
