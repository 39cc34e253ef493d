// Line is one line of a log. seq counts all lines that came, so that a line keeps its number when others are dropped.
export interface Line {
  seq: number;
  // source is "pod/container" where several are read together.
  source: string;
  // at is the time in front of the line, where it was asked for.
  at: string;
  text: string;
}

const prefix = /^([a-z0-9][a-z0-9.-]*\/[a-z0-9][a-z0-9-]*) (.*)$/s;
const stamp = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)) ?(.*)$/s;
// What colours a terminal, moves its cursor or rings is not text.
// oxlint-disable-next-line no-control-regex -- these are what is taken out
const control = /\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|[\x00-\x08\x0b-\x1f\x7f]/g;

// parse takes a line apart. of is how the names of pods begin whose lines say where they are from; undefined where no line does.
export function parse(raw: string, seq: number, of: string | undefined, timestamps: boolean): Line {
  let text = raw;
  let source = "";
  let at = "";
  const from = of !== undefined && raw.startsWith(of) ? prefix.exec(text) : null;
  if (from) {
    source = from[1] as string;
    text = from[2] as string;
  }
  const time = timestamps ? stamp.exec(text) : null;
  if (time) {
    at = time[1] as string;
    text = time[2] as string;
  }
  return { seq, source, at, text: text.replace(control, "") };
}

// LogBuffer keeps the last lines, so that a log may run for days. It drops the oldest in blocks, which costs little.
export class LogBuffer {
  private lines: Line[] = [];
  private seq = 0;
  readonly most: number;

  constructor(most = 50_000) {
    this.most = most;
  }

  push(raw: readonly string[], of: string | undefined, timestamps: boolean): void {
    for (const line of raw) {
      this.lines.push(parse(line, this.seq++, of, timestamps));
    }
    if (this.lines.length > this.most * 1.1) {
      this.lines = this.lines.slice(-this.most);
    }
  }

  clear(): void {
    this.lines = [];
    this.seq = 0;
  }

  // view is a list that does not change when more comes: the last lines, at most as many as are kept.
  view(): Line[] {
    return this.lines.length > this.most ? this.lines.slice(-this.most) : this.lines.slice();
  }

  get total(): number {
    return this.seq;
  }
}

// marks cuts a line at each place where a text is: [text, whether it is what was searched for].
export function marks(text: string, search: string, ignoreCase: boolean): [string, boolean][] {
  if (!search) {
    return [[text, false]];
  }
  const out: [string, boolean][] = [];
  const low = ignoreCase ? text.toLowerCase() : text;
  const what = ignoreCase ? search.toLowerCase() : search;
  // Where small letters take another number of places, places do not fit: then nothing is marked.
  if (low.length !== text.length) {
    return [[text, false]];
  }
  let from = 0;
  for (let at = low.indexOf(what); at >= 0; at = low.indexOf(what, from)) {
    if (at > from) {
      out.push([text.slice(from, at), false]);
    }
    out.push([text.slice(at, at + what.length), true]);
    from = at + what.length;
  }
  if (from < text.length || out.length === 0) {
    out.push([text.slice(from), false]);
  }
  return out;
}

// hue is which of some colours a source has: the same one each time.
export function hue(source: string, colours: number): number {
  let sum = 7;
  for (let i = 0; i < source.length; i++) {
    sum = (sum * 31 + source.charCodeAt(i)) >>> 0;
  }
  return sum % colours;
}
