import { queryOptions, useQuery } from "@tanstack/react-query";
import { ApiError, client, data, type Schemas } from "@/api/client";

export type Whoami = Schemas["Whoami"];

declare global {
  // slipwaySession is the answer that first.js has asked for; undefined where none came.
  var slipwaySession: Promise<Response | undefined> | undefined;
}

// sessionQuery is who is signed in; null for nobody.
export const sessionQuery = queryOptions({
  queryKey: ["session"],
  staleTime: 60_000,
  queryFn: async (): Promise<Whoami | null> => {
    const early = await globalThis.slipwaySession;
    globalThis.slipwaySession = undefined; // it counts once
    if (early?.ok) {
      return (await early.json()) as Whoami;
    }
    if (early?.status === 401) {
      return null;
    }
    try {
      return await data(client.GET("/api/v1/session"));
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) {
        return null;
      }
      throw error;
    }
  },
});

// useSession is who is signed in.
export function useSession(): Whoami | null {
  return useQuery(sessionQuery).data ?? null;
}

// contains is true where other is the scope or inside it: account > org.ACME > project.ACME.SHOP.
export function contains(scope: string, other: string): boolean {
  if (scope === "account" || scope === other) {
    return true;
  }
  const [, org] = scope.split(".");
  return scope.startsWith("org.") && other.startsWith(`project.${org}.`);
}

// may is true where whoever is signed in holds the permission at the scope, or, without one, anywhere.
export function may(who: Whoami | null, permission: string, scope?: string): boolean {
  return (who?.grants ?? []).some(
    (grant) => (grant.permissions ?? []).includes(permission) && (scope === undefined || contains(grant.scope, scope)),
  );
}

// useMissing is undefined for what whoever is signed in may do, and else what to tell them. The server decides; this only
// keeps people from trying what it would refuse.
export function useMissing(permission: string, scope?: string): string | undefined {
  const who = useSession();
  if (may(who, permission, scope)) {
    return undefined;
  }
  const where = scope === undefined ? "" : scope === "account" ? " for the whole account" : ` in ${scope}`;
  return `You need the permission ${permission}${where}: ask an administrator.`;
}
