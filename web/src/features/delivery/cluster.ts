import type { Setting } from "./setting";

// What the page shows of a cluster. A text is empty for what is not known.

export const latencyText = (setting: Setting): string => {
  const ms = setting.cluster?.latency ?? 0;
  return ms > 0 ? `${ms >= 1000 ? Math.round(ms) : ms} ms` : "";
};

export const versionText = (setting: Setting): string => setting.cluster?.kubernetes ?? "";

export const kindsText = (setting: Setting): string => {
  const kinds = setting.cluster?.kinds ?? 0;
  return kinds > 0 ? String(kinds) : "";
};

// conditionOf is the status of a connection, and the word for it. A cluster that is switched off is neither good nor bad.
export function conditionOf(setting: Setting): [status: string, label: string] {
  if (setting.cluster?.off) {
    return ["Revoked", "Switched off"];
  }
  const { status } = setting.connection ?? {};
  if (status === "Successful") {
    return ["Succeeded", "Works"];
  }
  if (status === "Failed") {
    return ["Failed", "Does not work"];
  }
  return ["Unknown", setting.cluster?.applications ? "Unknown" : "Not used yet"];
}
