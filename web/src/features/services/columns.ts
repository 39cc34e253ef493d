import type { Cell, Environment, Row } from "./data";

// Column is an environment of the matrix; that with an empty id has what belongs to none.
export interface Place {
  id: string;
  name: string;
  type?: string | undefined;
  region?: string | undefined;
}

const nameOf = (id: string): string => id.split(".").at(-1) ?? id;

// placesOf are the environments that something runs in, on the way that changes take: those before production first, each
// by name, and what belongs to none at the end.
export function placesOf(rows: Row[], environments: Environment[]): Place[] {
  const known = new Map(environments.map((e) => [e.id ?? "", e]));
  const ids = new Map<string, Cell>();
  for (const row of rows) {
    for (const cell of row.cells ?? []) {
      ids.set(cell.environment, cell);
    }
  }
  const places = [...ids].map(([id, cell]): Place => {
    const environment = known.get(id);
    return {
      id,
      name: id === "" ? "No environment" : (environment?.displayName ?? nameOf(id)),
      type: environment?.type ?? cell.type,
      region: environment?.region ?? cell.region,
    };
  });
  const rank = (p: Place) => (p.id === "" ? 2 : p.type === "Production" ? 1 : 0);
  return places.sort((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name) || a.id.localeCompare(b.id));
}

// behind is what an environment of a service is behind of; undefined for nothing.
export const behind = (row: Row, environment: string) => row.drift?.find((d) => d.environment === environment);

export const cellOf = (row: Row, environment: string): Cell | undefined =>
  row.cells?.find((c) => c.environment === environment);
