import { useSyncExternalStore } from "react";

export type Theme = "light" | "dark" | "system";

const key = "slipway.theme";
const watchers = new Set<() => void>();
const system = matchMedia("(prefers-color-scheme: dark)");

export function theme(): Theme {
  const stored = localStorage.getItem(key);
  return stored === "light" || stored === "dark" ? stored : "system";
}

export function isDark(): boolean {
  return theme() === "dark" || (theme() === "system" && system.matches);
}

function apply(): void {
  document.documentElement.classList.toggle("dark", isDark());
  for (const watcher of watchers) {
    watcher();
  }
}

export function setTheme(next: Theme): void {
  localStorage.setItem(key, next);
  apply();
}

system.addEventListener("change", apply);

function watch(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

export const useTheme = (): Theme => useSyncExternalStore(watch, theme);
