// Unified diffs as the API gives them, for people's eyes: with line numbers, one below the other or side by side.

export type Kind = "same" | "out" | "in" | "gap";

export interface Line {
  kind: Kind;
  text: string;
  // line numbers before and after; 0 for none.
  before: number;
  after: number;
}

const head = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;

// parseUnified reads a unified diff of one object. Names of files are left out: the page says which object it is.
export function parseUnified(text: string): Line[] {
  const out: Line[] = [];
  let before = 0;
  let after = 0;
  let begun = false;
  for (const line of text.split("\n")) {
    const hunk = head.exec(line);
    if (hunk) {
      before = Number(hunk[1]);
      after = Number(hunk[2]);
      if (begun || before > 1 || after > 1) {
        out.push({ kind: "gap", text: "", before, after });
      }
      begun = true;
    } else if (!begun || line.startsWith("\\")) {
      continue; // what is in front of the first hunk, and the mark of a missing end of line
    } else if (line.startsWith("-")) {
      out.push({ kind: "out", text: line.slice(1), before: before++, after: 0 });
    } else if (line.startsWith("+")) {
      out.push({ kind: "in", text: line.slice(1), before: 0, after: after++ });
    } else if (line.startsWith(" ")) {
      out.push({ kind: "same", text: line.slice(1), before: before++, after: after++ });
    }
  }
  return out;
}

export interface Pair {
  left: Line | undefined;
  right: Line | undefined;
}

// pairs puts what went beside what came in its place.
export function pairs(lines: Line[]): Pair[] {
  const out: Pair[] = [];
  let gone: Line[] = [];
  let come: Line[] = [];
  const flush = () => {
    for (let i = 0; i < Math.max(gone.length, come.length); i++) {
      out.push({ left: gone[i], right: come[i] });
    }
    gone = [];
    come = [];
  };
  for (const line of lines) {
    if (line.kind === "out") {
      if (come.length > 0) {
        flush();
      }
      gone.push(line);
    } else if (line.kind === "in") {
      come.push(line);
    } else {
      flush();
      out.push({ left: line, right: line });
    }
  }
  flush();
  return out;
}

// counts says how many lines came and went.
export function counts(lines: Line[]): { added: number; removed: number } {
  return {
    added: lines.filter((l) => l.kind === "in").length,
    removed: lines.filter((l) => l.kind === "out").length,
  };
}

// reversed is the patch that makes of what is wanted what is live: what a user who adopts a change puts into Git.
export function reversed(text: string): string {
  const swap: Record<string, string> = { "+": "-", "-": "+" };
  const out: string[] = [];
  let run: string[] = [];
  const flush = () => {
    out.push(...run.filter((l) => l.startsWith("-")), ...run.filter((l) => l.startsWith("+")));
    run = [];
  };
  for (const line of text.split("\n")) {
    const hunk = /^@@ -(\S+) \+(\S+) @@(.*)$/.exec(line);
    if (line.startsWith("--- ") && out.length === 0) {
      out.push("--- Git");
    } else if (line.startsWith("+++ ") && out.length === 1) {
      out.push("+++ cluster");
    } else if (hunk) {
      flush();
      out.push(`@@ -${hunk[2]} +${hunk[1]} @@${hunk[3]}`);
    } else if (swap[line[0] ?? ""]) {
      run.push(swap[line[0] as string] + line.slice(1));
    } else {
      flush();
      out.push(line);
    }
  }
  flush();
  return out.join("\n");
}
