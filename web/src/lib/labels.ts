// Labels are written as people write them for kubectl: one key=value to a line, or with commas.

// readLabels reads them; a text where one cannot be read.
export function readLabels(text: string): Record<string, string> | string {
  const out: Record<string, string> = {};
  for (const part of text.split(/[\n,]/)) {
    const pair = part.trim();
    if (!pair) {
      continue;
    }
    const at = pair.indexOf("=");
    const key = (at < 0 ? pair : pair.slice(0, at)).trim();
    if (!key || at < 0) {
      return `"${pair}" is not a label. Enter key=value.`;
    }
    out[key] = pair.slice(at + 1).trim();
  }
  return out;
}

export function writeLabels(labels: Record<string, string> | null | undefined): string {
  return Object.entries(labels ?? {})
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}=${value}`)
    .join("\n");
}

// linkLabels are the labels that link an Application to a service and an environment.
export const linkLabels = {
  service: ["metadata", "labels", "slipway.io/service"],
  environment: ["metadata", "labels", "slipway.io/environment"],
};
