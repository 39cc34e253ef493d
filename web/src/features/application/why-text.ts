import { upper } from "@/lib/format";
import { labelOf as statusLabel } from "@/ui/status";

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
