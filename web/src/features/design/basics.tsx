import { Plus, RefreshCw } from "lucide-react";
import { useState } from "react";
import { Ago } from "@/ui/ago";
import { Button, IconButton } from "@/ui/button";
import { Copy } from "@/ui/copy";
import { KindTile, pictured } from "@/ui/kind-icon";
import { Star } from "@/ui/star";
import { Badge, labelOf, Status, StatusIcon, statuses, type Tone, toneFill, toneOf, toneSoft } from "@/ui/status";
import { Piece, Row } from "./piece";

const tones: Tone[] = ["bad", "warn", "held", "busy", "ok", "idle"];

const meanings: Record<Tone, string> = {
  bad: "Broken",
  warn: "Differs from Git",
  held: "Waits for a person",
  busy: "Under way",
  ok: "As it should be",
  idle: "Missing or unknown",
};

const sizes = ["text-2xl", "text-xl", "text-lg", "text-base", "text-sm", "text-xs"] as const;

// Basics are type, colours, buttons, statuses and pictures of kinds.
export function Basics() {
  const [starred, setStarred] = useState(true);
  return (
    <>
      <Piece name="Type">
        {sizes.map((size) => (
          <p key={size} className={size}>
            Slipway delivers 1,024 applications <span className="text-muted">{size}</span>{" "}
            <span className="font-medium">medium</span> <span className="font-semibold">semibold</span>
          </p>
        ))}
        <p className="tabular-nums">
          1,111 ms
          <br />
          8,888 ms
        </p>
      </Piece>
      <Piece name="Colours">
        <div className="grid grid-cols-2 gap-3 sm:grid-cols-3 lg:grid-cols-6">
          {tones.map((tone) => (
            <div key={tone} className="overflow-hidden rounded-md border bg-surface">
              <div className={`h-8 ${toneFill[tone]}`} />
              <div className={`px-2 py-1 ${toneSoft[tone]}`}>{tone}</div>
              <div className="px-2 py-1 text-sm text-muted">{meanings[tone]}</div>
            </div>
          ))}
        </div>
      </Piece>
      <Piece name="Buttons">
        {(["primary", "plain", "ghost", "danger"] as const).map((look) => (
          <Row key={look}>
            <Button look={look}>{look}</Button>
            <Button look={look} small>
              small
            </Button>
            <Button look={look}>
              <Plus size={14} aria-hidden /> with a picture
            </Button>
            <Button look={look} disabled>
              disabled
            </Button>
            <Button look={look} busy>
              busy
            </Button>
            <Button look={look} why="You need the permission application_sync.">
              refused
            </Button>
            <Button look={look} asChild>
              <a href="#link">link</a>
            </Button>
          </Row>
        ))}
        <Row>
          <IconButton label="Refresh">
            <RefreshCw size={16} aria-hidden />
          </IconButton>
          <IconButton label="Refresh, small" small>
            <RefreshCw size={14} aria-hidden />
          </IconButton>
          <IconButton label="Refresh, off" disabled>
            <RefreshCw size={16} aria-hidden />
          </IconButton>
          <Copy text="text" />
          <Star name="web" on={starred} onToggle={() => setStarred(!starred)} />
          <Star name="shop" on={!starred} onToggle={() => setStarred(!starred)} />
        </Row>
      </Piece>
      <Piece name="Statuses">
        <div className="grid grid-cols-2 gap-2 sm:grid-cols-4">
          {statuses.map((status) => (
            <Status key={status} status={status} />
          ))}
          <Status status="Degraded" asOf="2026-01-01T10:00:00Z" />
          <Status status="A word of a cluster" />
        </div>
        <Row>
          {["Healthy", "Degraded", "OutOfSync", "Missing"].map((status) => (
            <StatusIcon key={status} status={status} size={20} />
          ))}
          <StatusIcon status="Degraded" size={20} old />
          {tones.map((tone) => (
            <Badge key={tone} tone={tone}>
              {tone}
            </Badge>
          ))}
          <Ago at="2026-01-01T10:58:00Z" />
          <Ago at={undefined} />
        </Row>
        <div className="flex h-6 overflow-hidden rounded">
          {["Degraded", "OutOfSync", "Held", "Progressing", "Healthy", "Missing"].map((status) => (
            <span key={status} title={labelOf(status)} className={`flex-1 ${toneFill[toneOf(status)]}`} />
          ))}
        </div>
      </Piece>
      <Piece name="Kinds">
        <div className="grid grid-cols-2 gap-2 sm:grid-cols-4">
          {[...pictured, "Widget"].map((kind) => (
            <span key={kind} className="flex min-w-0 items-center gap-2">
              <KindTile kind={kind} accent={kind === "Application"} />
              <span className="truncate">{kind}</span>
            </span>
          ))}
        </div>
      </Piece>
    </>
  );
}
