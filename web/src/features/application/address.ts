export type Part = "" | "diff" | "sync" | "history" | "why" | "parameters" | "events" | "logs" | "settings";

// partPath is the address of a part of the application's page, as the router names it.
export const partPath = (part: Part): string => `/applications/$agent/$namespace/$name${part ? `/${part}` : ""}`;
