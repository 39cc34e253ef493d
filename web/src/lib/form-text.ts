import { parse } from "yaml";

// How parts of an Application are written in fields of text, and read from them.

// mapFrom is the map that a text says; undefined where it says none, such as one that is still being written.
export function mapFrom(text: string): object | undefined {
  try {
    const value: unknown = parse(text, { maxAliasCount: 100 });
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

// numberOf is the number that a text says; a text that says none is kept, to be reported.
export const numberOf = (text: string): unknown =>
  text === "" ? undefined : /^-?\d{1,15}$/.test(text) ? Number(text) : text;

export const linesOf = (text: string): string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);

// pairsOf writes a map one entry a line, as name=value, and pairsFrom reads it.
export const pairsOf = (value: unknown): string =>
  typeof value === "object" && value !== null
    ? Object.entries(value)
        .map(([name, v]) => `${name}=${String(v)}`)
        .join("\n")
    : "";

export function pairsFrom(text: string, switches: boolean): Record<string, string | boolean> {
  const pairs = text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => {
      const [name = "", ...rest] = line.split("=");
      const value = rest.join("=").trim();
      return [name.trim(), switches ? value === "true" : value] as const;
    });
  return Object.fromEntries(pairs);
}
