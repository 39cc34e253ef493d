import type { Schemas } from "@/api/client";
import { plural, upper } from "@/lib/format";
import { labelOf as statusLabel, type Tone } from "@/ui/status";

// What the server says to do next has commands in backticks.

export interface Piece {
  text: string;
  code: boolean;
}

// stateText is what the server calls the state of an application, sync and health first, in the words of the pages:
// "OutOfSync, Healthy, held" is "Out of sync, healthy, held".
export function stateText(state: string): string {
  const [sync = "", health = "", ...more] = state.split(", ");
  const unknown = "Unknown";
  const both =
    sync === unknown && health === unknown
      ? ["sync and health unknown"]
      : [
          sync === unknown ? "sync unknown" : statusLabel(sync),
          health === unknown ? "health unknown" : statusLabel(health),
        ];
  return upper([...both.map((text) => text.toLowerCase()), ...more].filter(Boolean).join(", "));
}

type Reason = Pick<Schemas["WhyReason"], "code" | "what" | "why" | "finding" | "objects">;

const guarded = ["HeldByGuard", "WaitingForConfirm"];

// heldText is in one line what a deletion that is held would delete: "21 of 25 objects would be deleted (limit: 10 and 50 %)." It is
// undefined for a reason of another kind.
export function heldText(reason: Reason): string | undefined {
  if (!guarded.includes(reason.code)) {
    return undefined;
  }
  const text = reason.why ?? "";
  const counted = /(\d+) of (\d+) objects? (?:is|are) more than (\d+)(?: and over (\d+) ?%)?/.exec(text);
  if (counted) {
    const [, gone, all, objects, percent] = counted;
    const limit = percent ? `${objects} and ${percent} %` : objects;
    return `${gone} of ${all} objects would be deleted (limit: ${limit}).`;
  }
  const takes = /, and (.+?) takes with it what is in it or of it/.exec(text)?.[1];
  const doomed = reason.objects?.length ?? 0;
  if (doomed === 0) {
    return undefined;
  }
  return `${plural(doomed, "object")} would be deleted${takes ? `, and with ${takes} all that is in it` : ""}.`;
}

const tones: Record<string, Tone> = {
  Done: "ok",
  ...of(
    "bad",
    "AgentAway",
    "Denied",
    "CannotFetch",
    "Unverified",
    "CannotRender",
    "CannotCompare",
    "Failed",
    "Failing",
    "Degraded",
    "Shared",
  ),
  ...of("held", "HeldByGuard", "HeldByWindow", "Held", "Pinned", "WaitingForConfirm", "Suspended"),
  ...of("busy", "Operating", "Asked", "Terminating", "WaitingForHook", "WaitingForHealth", "Progressing", "SyncDue"),
  ...of("busy", "Deleting", "WaitingForRetry"),
  ...of("warn", "AutomatedOff", "SelfHealOff", "PruneOff", "PruneForbidden", "Unsupported", "Warned"),
};

function of(tone: Tone, ...codes: string[]): Record<string, Tone> {
  return Object.fromEntries(codes.map((code) => [code, tone]));
}

// reasonTone is what a reason means for a person, as a colour: a fault that was found is broken, whatever waits for it.
export const reasonTone = (reason: Reason): Tone =>
  reason.finding ? "bad" : Object.hasOwn(tones, reason.code) ? (tones[reason.code] ?? "idle") : "idle";

// split takes a text apart at its backticks. One without a second is a backtick.
export function split(text: string): Piece[] {
  const parts = text.split("`");
  if (parts.length % 2 === 0) {
    const rest = parts.pop() ?? "";
    parts.push(`${parts.pop() ?? ""}\`${rest}`);
  }
  return parts.map((part, i) => ({ text: part, code: i % 2 === 1 })).filter((p) => p.text !== "");
}

// commandsOf are the commands in a text that can be copied into a terminal.
export const commandsOf = (text: string): string[] => [
  ...new Set(
    split(text)
      .filter((p) => p.code && /^(slipway|kubectl|git) /.test(p.text))
      .map((p) => p.text),
  ),
];
