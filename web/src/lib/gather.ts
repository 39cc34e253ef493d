// gather asks for what is wanted within a moment together, by group, with at most `most` keys a request. An answer has one
// value for each key, in their order.
export function gather<G, T>(
  most: number,
  ms: number,
  ask: (group: G, keys: string[]) => Promise<T[]>,
): (name: string, group: G, key: string) => Promise<T> {
  const open = new Map<string, { group: G; keys: string[]; answer: Promise<T[]> }>();
  return async (name, group, key) => {
    let batch = open.get(name);
    if (!batch || (batch.keys.length >= most && !batch.keys.includes(key))) {
      const keys: string[] = [];
      const made = {
        group,
        keys,
        answer: new Promise<void>((resolve) => setTimeout(resolve, ms)).then(() => {
          if (open.get(name) === made) {
            open.delete(name);
          }
          return ask(group, keys);
        }),
      };
      open.set(name, made);
      batch = made;
    }
    if (!batch.keys.includes(key)) {
      batch.keys.push(key);
    }
    const at = batch.keys.indexOf(key);
    return (await batch.answer)[at] as T;
  };
}
