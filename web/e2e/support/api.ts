import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { BrowserContext } from "@playwright/test";
import type { components } from "../../src/api/schema.gen";
import { type Stack, stack } from "./stack";

type Schemas = components["schemas"];

// Cookie is the session of somebody, as a browser keeps it; url is the server that it is of, the stack's where it is left out.
export interface Cookie {
  name: string;
  value: string;
  url?: string;
}

const sessionFile = (s: Stack) => join(s.data, "e2e-session.json");

// sessionOf signs somebody in.
export async function sessionOf(url: string, username: string, password: string): Promise<Cookie> {
  const response = await fetch(`${url}/api/v1/session`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ username, password }),
  });
  const cookie = response.headers.getSetCookie().find((line) => line.includes("="));
  if (!response.ok || !cookie) {
    throw new Error(`sign in as ${username}: ${response.status} ${await response.text()}`);
  }
  const [pair = ""] = cookie.split(";");
  const at = pair.indexOf("=");
  return { name: pair.slice(0, at), value: pair.slice(at + 1), url };
}

// signInOnce keeps the session of the first user for all specs: how often one may sign in is limited.
export async function signInOnce(s: Stack): Promise<void> {
  try {
    const response = await call("GET", "/api/v1/users", undefined, session());
    if (response.ok) {
      return;
    }
  } catch {
    // nobody has signed in here yet
  }
  writeFileSync(sessionFile(s), JSON.stringify(await sessionOf(s.url, s.user, s.password)), { mode: 0o600 });
}

// session is that of the first user.
export function session(): Cookie {
  return JSON.parse(readFileSync(sessionFile(stack()), "utf8")) as Cookie;
}

function call(method: string, path: string, body: unknown, as: Cookie): Promise<Response> {
  const headers: Record<string, string> = { Cookie: `${as.name}=${as.value}` };
  if (body !== undefined) {
    headers["Content-Type"] = "application/json";
  }
  return fetch((as.url ?? stack().url) + path, {
    method,
    headers,
    body: body === undefined ? undefined : JSON.stringify(body),
  });
}

// api calls the API as the first user, or as somebody else.
export async function api<T>(method: string, path: string, body?: unknown, as: Cookie = session()): Promise<T> {
  const response = await call(method, path, body, as);
  const text = await response.text();
  if (!response.ok) {
    throw new Error(`${method} ${path}: ${response.status} ${text}`);
  }
  return (text === "" ? undefined : JSON.parse(text)) as T;
}

// signIn makes a browser's context that of the first user, or of somebody else, without the page for it.
export async function signIn(context: BrowserContext, as: Cookie = session()): Promise<void> {
  // Cookies know no ports: this one is for the pages of SLIPWAY_URL too.
  await context.addCookies([{ ...as, url: as.url ?? stack().url, httpOnly: true, sameSite: "Lax" }]);
}

// createUser makes a user who holds roles somewhere, has chosen a password, and is signed in.
export async function createUser(name: string, roles: { role: string; scope: string }[]): Promise<Cookie> {
  const first = "first correct horse battery";
  const user = await api<Schemas["User"]>("POST", "/api/v1/users", { name, password: first });
  for (const [i, { role, scope }] of roles.entries()) {
    await api("POST", "/api/v1/bindings", {
      name: `${name}-${i}`,
      principal: { type: "user", id: user.id },
      role,
      scope,
    });
  }
  const cookie = await sessionOf(stack().url, name, first);
  if (user.mustChangePassword) {
    await api("POST", "/api/v1/session/password", { current: first, new: `${first} staple` }, cookie);
  }
  return cookie;
}
