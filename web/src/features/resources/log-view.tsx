import { CaseSensitive, Download, Pause, Play } from "lucide-react";
import { useEffect, useMemo, useState, useSyncExternalStore } from "react";
import type { App } from "@/lib/application";
import { cn } from "@/lib/cn";
import { count, plural } from "@/lib/format";
import { Button, IconButton } from "@/ui/button";
import { Input, Select } from "@/ui/field";
import { Menu } from "@/ui/menu";
import { Empty, ErrorNote } from "@/ui/states";
import { type Line } from "./log-buffer";
import { type Ask, LogStream } from "./log-stream";
import { containersOf, objectOf } from "./manifest";
import type { Ref } from "./object-query";
import { type Look, Lines } from "./log-lines";

const spans: [number, string][] = [
  [0, "From the beginning"],
  [300, "Last 5 minutes"],
  [3_600, "Last hour"],
  [21_600, "Last 6 hours"],
  [86_400, "Last day"],
];

const tails = [200, 1_000, 10_000];

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
              label: "The previous container",
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
              broken: ask.follow ? "Disconnected: trying again" : "Disconnected",
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
          {ask.search ? "No line matches." : log.state === "live" ? "New lines appear here." : "The log is empty."}
        </Empty>
      ) : (
        <Lines lines={log.lines} look={look} marked={marked} follow={ask.follow} />
      )}
    </div>
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
