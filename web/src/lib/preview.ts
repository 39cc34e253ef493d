import { send } from "@/api/client";

// What the API says of an application before it is made or changed.
export interface Preview {
  valid: boolean;
  problems: { field: string; message: string; level: "error" | "warning" }[];
  objects: {
    group?: string;
    kind: string;
    namespace?: string;
    name: string;
    wave: number;
    hook?: string;
    verb: "create" | "update" | "delete" | "keep" | "error";
    diff?: string;
    error?: string;
  }[];
  counts: { create: number; update: number; delete: number; unchanged: number; error?: number; hooks?: number };
  revisions: string[];
  warnings?: string[];
}

// A change of an application that is there comes with what it was made of, and says so.
interface Draft {
  resource: unknown;
  base?: unknown;
  update?: boolean;
}

// preview asks what an application would do; quick asks neither repositories nor the destination. Nothing is written.
export function preview(agent: string, draft: Draft, quick = false): Promise<Preview> {
  const path = `/api/v1/agents/${encodeURIComponent(agent)}/applications/preview`;
  return send<Preview>("POST", `${path}${quick ? "?quick=true" : ""}`, draft);
}
