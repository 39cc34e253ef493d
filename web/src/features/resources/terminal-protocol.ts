import { ApiError } from "@/api/client";
import { type App, basePath } from "@/lib/application";

// Shells that are tried, the first that a container has. "" is what the server takes.
export const shells = ["", "bash", "sh", "ash"] as const;

// addressOf is where a terminal is opened.
export function addressOf(
  app: App,
  pod: { namespace: string; name: string },
  how: { container: string; shell: string; columns: number; rows: number },
  origin: string,
): string {
  const query = new URLSearchParams({
    podNamespace: pod.namespace,
    pod: pod.name,
    columns: String(clamp(how.columns)),
    rows: String(clamp(how.rows)),
  });
  if (how.container) {
    query.set("container", how.container);
  }
  if (how.shell) {
    query.append("command", how.shell);
  }
  return `${origin.replace(/^http/, "ws")}${basePath(app)}/terminal?${query}`;
}

// clamp keeps a size in what the server takes.
export const clamp = (n: number): number => Math.min(1_000, Math.max(1, Math.floor(n) || 1));

// Ending is why a terminal ended: in words, or as an error of the server or the agent.
export type Ending = { why: string } | { error: ApiError };

// endOf reads the last text that the server sent.
export function endOf(text: string): Ending {
  try {
    const said = JSON.parse(text) as { exit?: unknown; error?: unknown; requestId?: unknown };
    if (typeof said.exit === "number") {
      return { why: said.exit === 0 ? "The shell has ended." : `The shell has ended with exit code ${said.exit}.` };
    }
    if (typeof said.error === "string" && said.error) {
      const requestId = typeof said.requestId === "string" ? said.requestId : "";
      return { error: new ApiError(0, { detail: said.error, requestId }) };
    }
  } catch {
    // of a later version
  }
  return { why: "The terminal was closed." };
}
