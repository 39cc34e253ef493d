import { clock } from "./time";

const numbers = new Intl.NumberFormat("en-US");

// count writes a number for people: 12 500.
export const count = (n: number): string => numbers.format(n).replaceAll(",", "\u202f");

// plural writes a number with its noun.
export function plural(n: number, noun: string, nouns = `${noun}s`): string {
  return `${count(n)} ${n === 1 ? noun : nouns}`;
}

// short is a revision as people say it: the first 8 characters of a commit, anything else as it is.
export function short(revision: string | undefined): string {
  return /^[0-9a-f]{40,64}$/.test(revision ?? "") ? (revision ?? "").slice(0, 8) : (revision ?? "");
}

// repository is the address of a repository without what every address has.
export function repository(url: string | undefined): string {
  return (url ?? "")
    .replace(/^(https?|ssh|git|oci):\/\//, "")
    .replace(/^git@([^:]+):/, "$1/")
    .replace(/\.git$/, "");
}

// repositoryName is a repository without the host that serves it, where there is more: a list has no room for what most rows share.
export function repositoryName(url: string | undefined): string {
  const whole = repository(url);
  return /\/(.+)$/.exec(whole)?.[1] ?? whole;
}

// sentence is a message of an agent as a sentence: with a capital and a stop, and with times as the clock of its reader has them. What
// a message is about stands in its title, so that "held: " at its beginning goes, and people have their names alone.
export function sentence(message: string, now = Date.now()): string {
  const times = message.replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, (at) => clock(at, now));
  const bare = times
    .trim()
    .replace(/^held: /i, "")
    .replace(/\bby user:/gi, "by ");
  // A path or a name of a field at the beginning stays as it is.
  const text = /^[a-z]+\b[^./=_-]/.test(bare) ? upper(bare) : bare;
  return text === "" || /[.!?…]$/.test(text) ? text : `${text}.`;
}

// upper begins a sentence with a text.
export const upper = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
