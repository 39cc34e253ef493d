declare global {
  // slipwayEarly are the answers that first.js asked for, by path and query, before there was any code of the pages.
  var slipwayEarly: Record<string, Promise<Response | undefined>> | undefined;
}

// While pages begin, in ms since their address was opened: an answer that was not taken by then is old.
const beginning = 10_000;

// fetchOnce is fetch, which takes what was asked for early where it is that. An answer counts once.
export async function fetchOnce(request: Request): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  const answer = request.method === "GET" ? globalThis.slipwayEarly?.[pathname + search] : undefined;
  if (answer === undefined) {
    // The name is looked up at each call, so that tests can put another one there.
    return globalThis.fetch(request);
  }
  delete globalThis.slipwayEarly?.[pathname + search];
  return (performance.now() < beginning ? await answer : undefined) ?? globalThis.fetch(request);
}

// forgetEarly is for users who are signed out: their answers must not reach the next user who signs in.
export function forgetEarly(): void {
  globalThis.slipwayEarly = undefined;
}
