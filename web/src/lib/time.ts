import { useSyncExternalStore } from "react";

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

// known is false for a missing time and for the zero time of Go, which stands for one.
export function known(at: string | undefined | null): at is string {
  return Boolean(at) && !at?.startsWith("0001-");
}

// ago says how long before now something was: "12 s ago". With ahead it may also be to come: "in 3 min". Without it, a time after
// now comes from a clock that is ahead of this one, and is not to come.
export function ago(at: string, now: number, ahead = false): string {
  const age = now - Date.parse(at);
  if (Number.isNaN(age)) {
    return "";
  }
  if (age < 3 * second && (!ahead || age > -3 * second)) {
    return "just now";
  }
  return age < 0 ? `in ${span(-age)}` : `${span(age)} ago`;
}

// coarse is ago in its largest unit alone, for where there is little room: "9 min ago".
export function coarse(at: string, now: number): string {
  return ago(at, now).replace(/^(\d+ \S+) \d+ \S+ ago$/, "$1 ago");
}

// span says how long a time in ms is, in its largest one or two units.
export function span(ms: number): string {
  if (ms < second) {
    return `${Math.floor(ms)} ms`;
  }
  if (ms < minute) {
    return `${Math.min(59, Math.round(ms / second))} s`;
  }
  if (ms < hour) {
    const rest = Math.floor((ms % minute) / second);
    return ms < 10 * minute && rest > 0 ? `${Math.floor(ms / minute)} min ${rest} s` : `${Math.floor(ms / minute)} min`;
  }
  if (ms < day) {
    const rest = Math.floor((ms % hour) / minute);
    return ms < 6 * hour && rest > 0 ? `${Math.floor(ms / hour)} h ${rest} min` : `${Math.floor(ms / hour)} h`;
  }
  return `${Math.floor(ms / day)} d`;
}

// between is how long something took. Times of Kubernetes are in whole seconds: between two that are the same may be most of one.
export function between(from: string, to: string): string {
  const ms = Math.max(0, Date.parse(to) - Date.parse(from));
  return ms === 0 && !from.includes(".") ? "< 1 s" : span(ms);
}

const moments = new Intl.DateTimeFormat(undefined, {
  year: "numeric",
  month: "short",
  day: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  timeZoneName: "short",
});

// exact is a time as its reader writes it, with the zone; what is no time stays as it is.
export function exact(at: string): string {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? at : moments.format(date);
}

const hours = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const days = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" });

// clock is a time of today as its hour, and another one with its day.
export function clock(at: string, now: number): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) {
    return at;
  }
  return date.toDateString() === new Date(now).toDateString() ? hours.format(date) : days.format(date);
}

// One clock for all times on the page: each ticks with it. It ticks each second; a time that is no longer young shows each fifth.
let current = Date.now();
let ticking: ReturnType<typeof setInterval> | undefined;
const watchers = new Set<() => void>();

function watch(watcher: () => void): () => void {
  if (watchers.size === 0) {
    current = Date.now(); // it stood still while it was not visible
  }
  watchers.add(watcher);
  ticking ??= setInterval(() => {
    current = Date.now();
    for (const each of watchers) {
      each();
    }
  }, second);
  return () => {
    watchers.delete(watcher);
    if (watchers.size === 0) {
      clearInterval(ticking);
      ticking = undefined;
    }
  };
}

const slow = 5 * second;
const young = minute;

// stepped is the time in ms that an age is counted at: each second while it is young, and each 5 s otherwise.
export function stepped(now: number, at = 0): number {
  const age = now - at;
  return Math.abs(age) < young ? now : at + Math.floor(age / slow) * slow;
}

// useNow is the time in ms to count the age of a time at; without one, each 5 s.
export function useNow(at?: string | null): number {
  const time = at ? Date.parse(at) : undefined;
  return useSyncExternalStore(watch, () => stepped(current, time));
}
