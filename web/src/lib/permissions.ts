// Permissions are "<type>_<verb>"; "*" is all, "application_*" all of a type, "*_view" a verb of every type.

const order = ["view", "edit", "delete", "sync", "resourceaction", "logs", "exec"];

// Matrix is all permissions by type and verb.
export interface Matrix {
  types: string[];
  verbs: string[];
  has: (type: string, verb: string) => boolean;
}

export function matrix(all: string[]): Matrix {
  const set = new Set(all);
  const verbs = [...new Set(all.map((p) => p.slice(p.indexOf("_") + 1)))].sort(
    (a, b) => (order.indexOf(a) + 1 || 99) - (order.indexOf(b) + 1 || 99),
  );
  return {
    types: [...new Set(all.map((p) => p.slice(0, p.indexOf("_"))))],
    verbs,
    has: (type, verb) => set.has(`${type}_${verb}`),
  };
}

// grants is true where one of the given permissions and patterns allows it.
export function grants(given: readonly string[], permission: string): boolean {
  const at = permission.indexOf("_");
  const type = permission.slice(0, at);
  const verb = permission.slice(at + 1);
  return given.some((g) => g === permission || g === "*" || g === `${type}_*` || g === `*_${verb}`);
}

// toggle gives or takes one permission. A pattern that has it is written out first, as far as there are permissions.
export function toggle(given: readonly string[], permission: string, all: readonly string[]): string[] {
  if (!grants(given, permission)) {
    return [...given, permission];
  }
  const out: string[] = [];
  for (const g of given) {
    if (grants([g], permission)) {
      out.push(...all.filter((p) => p !== permission && grants([g], p)));
    } else {
      out.push(g);
    }
  }
  return [...new Set(out)];
}
