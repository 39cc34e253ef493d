import { useVirtualizer } from "@tanstack/react-virtual";
import { ArrowDownToLine, CaseSensitive, Download, Pause, Play } from "lucide-react";
import { useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import type { App } from "@/lib/application";
import { cn } from "@/lib/cn";
import { count, plural } from "@/lib/format";
import { Button, IconButton } from "@/ui/button";
import { Input, Select } from "@/ui/field";
import { Menu } from "@/ui/menu";
import { Empty, ErrorNote } from "@/ui/states";
import { hue, type Line, marks } from "./log-buffer";
import { type Ask, LogStream } from "./log-stream";
import { containersOf, objectOf } from "./manifest";
import type { Ref } from "./object-query";

const spans: [number, string][] = [
  [0, "From the beginning"],
  [300, "Last 5 minutes"],
  [3_600, "Last hour"],
  [21_600, "Last 6 hours"],
  [86_400, "Last day"],
];
const tails = [200, 1_000, 10_000];
const colours = ["text-busy", "text-ok", "text-warn", "text-held", "text-accent", "text-bad"];

interface Look {
  wrap: boolean;
  colour: boolean;
}

// Marked is the text that is marked in each line.
interface Marked {
  text: string;
  ignoreCase: boolean;
}

// LogView shows the log of one object, or of all pods of an application, as it goes on.
export function LogView({
  app,
  target,
  object,
  className,
}: {
  app: App;
  target: Ref | undefined;
  // object is the pod or workload as it is in the cluster, which says what containers there are.
  object?: unknown;
  className?: string;
}) {
  const containers = containersOf(objectOf(object)).map((c) => c.name);
  const [ask, setAsk] = useState<Omit<Ask, "target">>({
    container: "",
    follow: true,
    previous: false,
    since: 0,
    tail: 1_000,
    search: "",
    invert: false,
    ignoreCase: true,
    timestamps: false,
  });
  const [typed, setTyped] = useState("");
  const [look, setLook] = useState<Look>({ wrap: true, colour: true });
  const change = (to: Partial<Omit<Ask, "target">>) => setAsk((before) => ({ ...before, ...to }));
  useEffect(() => {
    const timer = setTimeout(() => setAsk((a) => (a.search === typed ? a : { ...a, search: typed })), 350);
    return () => clearTimeout(timer);
  }, [typed]);
  // A pod of one container is read as that container: then nothing stands in front of its lines.
  const only = target?.kind === "Pod" && containers.length === 1 ? containers[0] : "";
  const what = JSON.stringify({ ...ask, container: ask.container || only, target });
  const stream = useMemo(() => new LogStream(app, JSON.parse(what) as Ask), [app, what]);
  const log = useSyncExternalStore(stream.subscribe, stream.get);
  const marked = { text: ask.invert ? "" : ask.search, ignoreCase: ask.ignoreCase };
  return (
    <div className={cn("flex min-h-0 min-w-0 flex-col gap-2", className)}>
      <div className="flex flex-wrap items-center gap-2">
        <Input
          type="search"
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
          placeholder={ask.invert ? "Leave out lines with" : "Only lines with"}
          aria-label="Search the log"
          className="w-full sm:w-48"
        />
        <IconButton
          label="Match case"
          aria-pressed={!ask.ignoreCase}
          className={cn(!ask.ignoreCase && "bg-accent-soft")}
          onClick={() => change({ ignoreCase: !ask.ignoreCase })}
        >
          <CaseSensitive size={16} aria-hidden />
        </IconButton>
        {containers.length > 1 && (
          <Select
            aria-label="Container"
            value={ask.container}
            onChange={(event) => change({ container: event.target.value })}
            className="w-auto"
          >
            <option value="">All containers</option>
            {containers.map((c) => (
              <option key={c}>{c}</option>
            ))}
          </Select>
        )}
        <Select
          aria-label="How far back"
          value={ask.since}
          onChange={(event) => change({ since: Number(event.target.value) })}
          className="w-auto"
        >
          {spans.map(([seconds, label]) => (
            <option key={seconds} value={seconds}>
              {label}
            </option>
          ))}
        </Select>
        <Select
          aria-label="How many lines"
          value={ask.tail}
          onChange={(event) => change({ tail: Number(event.target.value) })}
          className="w-auto"
        >
          {tails.map((n) => (
            <option key={n} value={n}>
              {count(n)} lines
            </option>
          ))}
          <option value={0}>All lines</option>
        </Select>
        <Button aria-pressed={ask.follow} onClick={() => change({ follow: !ask.follow })}>
          {ask.follow ? <Pause size={14} aria-hidden /> : <Play size={14} aria-hidden />}
          {ask.follow ? "Stop following" : "Follow"}
        </Button>
        <Menu
          trigger={<Button>Options</Button>}
          items={[
            { label: "Wrap lines", checked: look.wrap, run: () => setLook({ ...look, wrap: !look.wrap }) },
            { label: "Times", checked: ask.timestamps, run: () => change({ timestamps: !ask.timestamps }) },
            { label: "Colour pods", checked: look.colour, run: () => setLook({ ...look, colour: !look.colour }) },
            null,
            { label: "Lines without the text", checked: ask.invert, run: () => change({ invert: !ask.invert }) },
            {
              label: "The container that ran before",
              checked: ask.previous,
              run: () => change({ previous: !ask.previous, follow: ask.previous }),
            },
          ]}
        />
        <IconButton
          label="Download what is shown"
          onClick={() => download(log.lines, app.name)}
          disabled={log.lines.length === 0}
        >
          <Download size={15} aria-hidden />
        </IconButton>
        <p role="status" className="ml-auto text-sm text-muted">
          {
            {
              reading: "Reading…",
              live: "Live",
              ended: "Ended",
              broken: ask.follow ? "Broken off: trying again" : "Broken off",
            }[log.state]
          }
          {" · "}
          {log.total > log.lines.length
            ? `last ${count(log.lines.length)} of ${plural(log.total, "line")}`
            : plural(log.total, "line")}
        </p>
      </div>
      {log.error != null && <ErrorNote error={log.error} />}
      {log.lines.length === 0 && (log.state === "ended" || log.state === "live") ? (
        <Empty filtered={ask.search !== ""} title="No lines">
          {ask.search
            ? "No line matches."
            : log.state === "live"
              ? "Lines show here as they come."
              : "The log is empty."}
        </Empty>
      ) : (
        <Lines lines={log.lines} look={look} marked={marked} follow={ask.follow} />
      )}
    </div>
  );
}

function Lines({ lines, look, marked, follow }: { lines: Line[]; look: Look; marked: Marked; follow: boolean }) {
  const scroller = useRef<HTMLDivElement>(null);
  const [held, setHeld] = useState(false);
  // While somebody reads further up, what is shown stays as it is.
  const still = useRef(lines);
  if (!held) {
    still.current = lines;
  }
  const shown = held ? still.current : lines;
  const virtual = useVirtualizer({
    count: shown.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 20,
    overscan: 30,
    getItemKey: (i) => shown[i]?.seq ?? i,
  });
  useEffect(() => {
    if (follow && !held && shown.length > 0) {
      virtual.scrollToIndex(shown.length - 1, { align: "end" });
    }
  }, [shown, follow, held, virtual]);
  const scrolled = () => {
    const box = scroller.current as HTMLDivElement;
    const atEnd = box.scrollHeight - box.scrollTop - box.clientHeight < 40;
    if (atEnd && held) {
      setHeld(false);
    }
  };
  const hold = () => {
    const box = scroller.current as HTMLDivElement;
    if (follow && box.scrollHeight > box.clientHeight) {
      setHeld(true);
    }
  };
  return (
    <div className="relative min-h-60 flex-1">
      <div
        ref={scroller}
        role="log"
        aria-label="Log"
        aria-live="off"
        tabIndex={0}
        onScroll={scrolled}
        onWheel={(event) => event.deltaY < 0 && hold()}
        onTouchMove={hold}
        onKeyDown={(event) => ["ArrowUp", "PageUp", "Home"].includes(event.key) && hold()}
        className="absolute inset-0 overflow-auto rounded-md border bg-surface py-1 font-mono text-[0.78rem] leading-5"
      >
        <div className={cn("relative", !look.wrap && "w-max min-w-full")} style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map((item) => (
            <div
              key={item.key}
              ref={virtual.measureElement}
              data-index={item.index}
              style={{ transform: `translateY(${item.start}px)` }}
              className={cn(
                "absolute top-0 left-0 min-w-full px-2 hover:bg-idle-soft/60",
                look.wrap ? "w-full break-all whitespace-pre-wrap" : "whitespace-pre",
              )}
            >
              <OneLine line={shown[item.index] as Line} colour={look.colour} marked={marked} />
            </div>
          ))}
        </div>
      </div>
      {held && (
        <Button small look="primary" className="absolute right-4 bottom-3 shadow" onClick={() => setHeld(false)}>
          <ArrowDownToLine size={13} aria-hidden />
          {lines.length > 0 && (lines.at(-1)?.seq ?? 0) > (shown.at(-1)?.seq ?? 0)
            ? `${count((lines.at(-1)?.seq ?? 0) - (shown.at(-1)?.seq ?? 0))} new: go on`
            : "Go on"}
        </Button>
      )}
    </div>
  );
}

function OneLine({ line, colour, marked }: { line: Line; colour: boolean; marked: Marked }) {
  return (
    <>
      {line.source && (
        <span className={cn("mr-2 font-medium", colour ? colours[hue(line.source, colours.length)] : "text-muted")}>
          {line.source}
        </span>
      )}
      {line.at && <span className="mr-2 text-muted">{line.at.slice(0, 23).replace("T", " ")}</span>}
      {marks(line.text, marked.text, marked.ignoreCase).map(([text, hit], i) =>
        hit ? (
          <mark key={i} className="rounded bg-warn-soft text-warn">
            {text}
          </mark>
        ) : (
          <span key={i}>{text}</span>
        ),
      )}
    </>
  );
}

function download(lines: Line[], name: string): void {
  const text = lines.map((l) => [l.source, l.at, l.text].filter(Boolean).join(" ")).join("\n");
  const url = URL.createObjectURL(new Blob([`${text}\n`], { type: "text/plain" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = `${name}.log`;
  link.click();
  URL.revokeObjectURL(url);
}
