import type { Path } from "./draft";

// Place is where a cursor is in a YAML text that is being written, and so can seldom be parsed.
export interface Place {
  // parent is the path of the map or list that the line belongs to.
  parent: Path;
  // key is the field whose value is being written; undefined where a name is.
  key?: string;
  // typed is what is written of it before the cursor.
  typed: string;
  // item: the line begins an entry of a list.
  item: boolean;
  // words: it is in a comment or in a text of several lines, where there are no fields.
  words: boolean;
  // siblings are the names that the map has already.
  siblings: string[];
}

interface Line {
  // indent is where the name begins, behind the hyphens of a list; dashes are where each of them is.
  indent: number;
  dashes: number[];
  key?: string;
  value: string;
}

function split(text: string): Line | undefined {
  const dashes: number[] = [];
  let indent = /^ */.exec(text)?.[0].length ?? 0;
  let rest = text.slice(indent);
  for (let dash = /^-( +|$)/.exec(rest); dash; dash = /^-( +|$)/.exec(rest)) {
    dashes.push(indent);
    indent += Math.max(dash[0].length, 2);
    rest = rest.slice(dash[0].length);
  }
  if (rest.startsWith("#") || (rest === "" && dashes.length === 0)) {
    return undefined;
  }
  const key = /^(?:"([^"]*)"|'([^']*)'|([^\s"'#:{[][^:#]*?))\s*:(?:\s+(.*))?$/.exec(rest);
  const name = key?.[1] ?? key?.[2] ?? key?.[3];
  return { indent, dashes, value: key ? (key[4] ?? "") : rest, ...(name !== undefined && { key: name }) };
}

type Around = { indent: number } & ({ keys: string[]; key: string } | { count: number });

const isList = (around: Around | undefined): around is { indent: number; count: number } =>
  around !== undefined && "count" in around;

// Walk knows which maps and lists are open at a line of the text.
class Walk {
  readonly open: Around[] = [];

  // dash begins an entry of a list; one may stand as far to the left as the name of its list.
  dash(indent: number): void {
    while ((this.open.at(-1)?.indent ?? -1) > indent) {
      this.open.pop();
    }
    const top = this.open.at(-1);
    if (isList(top) && top.indent === indent) {
      top.count++;
    } else {
      this.open.push({ indent, count: 0 });
    }
  }

  // at closes what ends before a column.
  at(indent: number): void {
    for (let top = this.open.at(-1); top; top = this.open.at(-1)) {
      if (top.indent < indent || (top.indent === indent && !isList(top))) {
        return;
      }
      this.open.pop();
    }
  }

  key(indent: number, key: string): void {
    this.at(indent);
    const top = this.open.at(-1);
    if (top && !isList(top) && top.indent === indent) {
      top.keys.push(key);
      top.key = key;
    } else {
      this.open.push({ indent, keys: [key], key });
    }
  }
}

// placeAt is the place of an offset of a text, by its lines and how far they are indented.
export function placeAt(text: string, offset: number): Place {
  const before = text.slice(0, offset).split("\n");
  const last = before.pop() ?? "";
  const walk = new Walk();
  let block = -1; // column of the name of a text of several lines
  const inBlock = (line: string) => block >= 0 && (line.trim() === "" || (/^ */.exec(line)?.[0].length ?? 0) > block);
  for (const one of before) {
    const line = inBlock(one) ? undefined : split(one);
    if (line) {
      block = /^[|>][-+\d]*\s*(#.*)?$/.test(line.value) ? line.indent : -1;
      line.dashes.forEach((dash) => walk.dash(dash));
      if (line.key !== undefined) {
        walk.key(line.indent, line.key);
      }
    }
  }
  const words = inBlock(last) || /(^|\s)#/.test(last);
  const now = split(last);
  const indent = now?.indent ?? last.length;
  now?.dashes.forEach((dash) => walk.dash(dash));
  walk.at(indent);
  const top = walk.open.at(-1);
  const same = top && !isList(top) && top.indent === indent ? top : undefined;
  return {
    parent: walk.open.filter((around) => around !== same).map((around) => (isList(around) ? around.count : around.key)),
    typed: now?.value ?? "",
    item: (now?.dashes.length ?? 0) > 0,
    words,
    siblings: [...(same?.keys ?? []), ...following(text.slice(offset).split("\n").slice(1), indent)],
    ...(now?.key !== undefined && { key: now.key }),
  };
}

// following are the names of a map in the lines after the cursor.
function following(lines: string[], indent: number): string[] {
  const out: string[] = [];
  for (const line of lines.map(split)) {
    if (line && (line.indent < indent || (line.dashes[0] ?? indent) < indent)) {
      return out;
    }
    if (line?.key !== undefined && line.indent === indent) {
      out.push(line.key);
    }
  }
  return out;
}
