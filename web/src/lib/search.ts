// Search is what follows "?" of an address: texts by name, several of one name as a list. A filter is in the address, so
// that a link shows what its sender saw.
export type Search = Record<string, string | string[] | undefined>;

// parseSearch reads "?a=1&b=2&b=3". Everything is a text: no address can bring another shape.
export function parseSearch(text: string): Search {
  const out: Search = {};
  const params = new URLSearchParams(text.startsWith("?") ? text.slice(1) : text);
  for (const name of new Set(params.keys())) {
    const values = params.getAll(name);
    out[name] = values.length > 1 ? values : values[0];
  }
  return out;
}

// stringifySearch writes it; what is empty or undefined is left out.
export function stringifySearch(search: Record<string, unknown>): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(search)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== null && one !== "" && one !== false) {
        params.append(name, String(one));
      }
    }
  }
  const text = params.toString();
  return text ? `?${text}` : "";
}

// texts takes texts only; with names, only these.
export function texts(...names: string[]): (raw: Record<string, unknown>) => Search {
  return (raw) => {
    const out: Search = {};
    for (const [name, value] of Object.entries(raw)) {
      if (names.length > 0 && !names.includes(name)) {
        continue;
      }
      if (Array.isArray(value)) {
        out[name] = value.map(String);
      } else if (value !== undefined && value !== null) {
        out[name] = String(value);
      }
    }
    return out;
  };
}

// one is the text of a name; the first where there are several.
export function one(search: Search, name: string): string {
  const value = search[name];
  return (Array.isArray(value) ? value[0] : value) ?? "";
}

// many are all texts of a name.
export function many(search: Search, name: string): string[] {
  const value = search[name];
  return value === undefined ? [] : Array.isArray(value) ? value : [value];
}
