// What the server says to do next has commands in backticks.

export interface Piece {
  text: string;
  code: boolean;
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
