const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const equal = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

// mergePatch is the merge patch that makes one object of another, and says nothing of what stays; undefined where both are
// alike. Lists go as a whole.
export function mergePatch(before: unknown, after: unknown): unknown {
  if (!isRecord(before) || !isRecord(after)) {
    return equal(before, after) ? undefined : after;
  }
  const out: Record<string, unknown> = {};
  for (const name of Object.keys(before)) {
    if (!(name in after)) {
      out[name] = null;
    }
  }
  for (const [name, value] of Object.entries(after)) {
    const changed = name in before ? mergePatch(before[name], value) : value;
    if (changed !== undefined) {
      out[name] = changed;
    }
  }
  return Object.keys(out).length > 0 ? out : undefined;
}
