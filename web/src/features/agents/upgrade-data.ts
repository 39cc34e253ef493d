import { useQuery } from "@tanstack/react-query";
import { client, data, type Schemas } from "@/api/client";
import type { Agent } from "./data";

type Rule = Schemas["AgentVersionRule"];

// inScope is true of a scope that is another one, or below it.
const inScope = (outer: string, inner: string): boolean =>
  outer === "" ||
  outer === "account" ||
  outer === inner ||
  (outer.startsWith("org.") && inner.startsWith(`project.${outer.slice(4)}.`));

const matches = (rule: Rule, agent: Agent): boolean =>
  inScope(rule.scope ?? "", agent.scope ?? "account") &&
  Object.entries(rule.selector ?? {}).every(([key, want]) => {
    const have = agent.labels?.[key];
    return have !== undefined && (want === "" || have === want);
  });

// wantedBy is the version that the first rule about an agent says; "" where none does.
export const wantedBy = (versions: Schemas["AgentVersions"] | undefined, agent: Agent): string =>
  versions?.rules?.find((rule) => matches(rule, agent))?.release ?? "";

// stepOf is how far an upgrade is: the canaries are before the first step.
export const stepOf = (upgrade: Pick<Schemas["Upgrade"], "step" | "steps">): string =>
  upgrade.step === 0 ? "canaries" : `step ${upgrade.step} of ${upgrade.steps}`;

// useVersions are the rules that say which version agents should run.
export function useVersions(enabled: boolean) {
  return useQuery({
    queryKey: ["agent", "versions"],
    enabled,
    queryFn: ({ signal }) => data(client.GET("/api/v1/agent-versions", { signal })),
  });
}

// useReleases are the versions that can be chosen.
export function useReleases(enabled: boolean) {
  return useQuery({
    queryKey: ["agent", "releases"],
    enabled,
    queryFn: ({ signal }) => data(client.GET("/api/v1/agent-releases", { signal })),
    select: (page) => page.items ?? [],
  });
}
