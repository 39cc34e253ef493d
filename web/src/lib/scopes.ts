import { useAll } from "./entity";
import { organizations, projects } from "./kinds";

// useScopes are the scopes that there are, the wider ones first.
export function useScopes(): string[] {
  const orgs = useAll(organizations);
  const all = useAll(projects);
  return [
    "account",
    ...orgs.map((o) => o.scope || `org.${o.name}`),
    ...all.map((p) => p.scope || `project.${p.id}`),
  ].filter((scope, i, list) => list.indexOf(scope) === i);
}

// scopeName is a scope as people say it.
export function scopeName(scope: string | undefined): string {
  if (!scope || scope === "account") {
    return "Whole account";
  }
  const [kind, ...rest] = scope.split(".");
  return kind === "org" ? `Organization ${rest.join(".")}` : `Project ${rest.join(".")}`;
}
