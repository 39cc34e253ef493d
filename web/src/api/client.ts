import createClient from "openapi-fetch";
import { fetchOnce } from "./early";
import type { components, paths } from "./schema.gen";

// Schemas are the wire types, by their names in the API's description.
export type Schemas = components["schemas"];

type Problem = Partial<Schemas["Problem"]>;

// ApiError is an answer of the server that says why it refused, or that no answer came (status 0).
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly requestId: string;
  readonly fields: { field: string; message: string }[];
  readonly references: Schemas["Ref"][];
  // retryAfter is in how many seconds to try again; 0 where that does not help.
  readonly retryAfter: number;

  constructor(status: number, problem: Problem, retryAfter = 0) {
    super(problem.detail ?? problem.title ?? "The server's response could not be read. Try again.");
    this.name = "ApiError";
    this.status = status;
    this.code = problem.code ?? (status === 0 ? "unreachable" : "internal");
    this.requestId = problem.requestId ?? "";
    this.fields = problem.errors ?? [];
    this.references = problem.references ?? [];
    this.retryAfter = retryAfter;
  }
}

async function problemOf(response: Response): Promise<ApiError> {
  const retryAfter = Number(response.headers.get("Retry-After") ?? 0) || 0;
  let problem: Problem = { requestId: response.headers.get("X-Request-Id") ?? "" };
  try {
    problem = { ...problem, ...((await response.clone().json()) as Problem) };
  } catch {
    problem.detail = `The server answered ${response.status} without a reason. Try again.`;
  }
  return new ApiError(response.status, problem, retryAfter);
}

const unreachable = "The server is unreachable. Check the network; this page may be out of date.";

export const client = createClient<paths>({
  baseUrl: typeof location === "undefined" ? "http://localhost" : location.origin,
  fetch: fetchOnce,
  // Arrays as name=a&name=b, as the API reads them.
  querySerializer: { array: { style: "form", explode: true } },
});

client.use({
  async onResponse({ response }) {
    if (!response.ok) {
      throw await problemOf(response);
    }
    return undefined;
  },
  onError({ error }) {
    if (error instanceof ApiError || (error instanceof DOMException && error.name === "AbortError")) {
      return error;
    }
    return new ApiError(0, { detail: unreachable });
  },
});

// data is the body of an answer; an answer that is none throws an ApiError.
export async function data<T>(call: Promise<{ data?: T; response: Response }>): Promise<T> {
  const answer = await call;
  return answer.data as T;
}

// request is for what the typed client does not do: streams and texts. It throws an ApiError as that one does.
export async function request(path: string, init?: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path, init);
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") {
      throw error;
    }
    throw new ApiError(0, { detail: unreachable });
  }
  if (!response.ok) {
    throw await problemOf(response);
  }
  return response;
}

// readJSON and send are for what entities of any kind have in common (lib/entity): their addresses are put together.
export async function readJSON<T>(path: string, init?: RequestInit): Promise<T> {
  const response = await request(path, init);
  return (response.status === 204 ? undefined : await response.json()) as T;
}

export const send = <T>(method: "POST" | "PUT" | "DELETE", path: string, body?: unknown): Promise<T> =>
  readJSON<T>(
    path,
    body === undefined
      ? { method }
      : { method, headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) },
  );
