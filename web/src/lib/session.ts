import { queryOptions, useQuery } from "@tanstack/react-query";
import { ApiError, client, data, type Schemas } from "@/api/client";
import { forgetEarly } from "@/api/early";

export type Whoami = Schemas["Whoami"];

// sessionQuery is the signed-in user; null for none.
export const sessionQuery = queryOptions({
  queryKey: ["session"],
  staleTime: 60_000,
  queryFn: async (): Promise<Whoami | null> => {
    try {
      return await data(client.GET("/api/v1/session"));
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) {
        forgetEarly();
        return null;
      }
      throw error;
    }
  },
});

// useSession is the signed-in user.
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

// may is true where the signed-in user holds the permission at the scope, or, without one, anywhere.
export function may(who: Whoami | null, permission: string, scope?: string): boolean {
  return (who?.grants ?? []).some(
    (grant) => (grant.permissions ?? []).includes(permission) && (scope === undefined || contains(grant.scope, scope)),
  );
}

// seenIn is where the signed-in user sees all that a permission is about: "account" for everywhere, a scope of which they see
// a part only with "some of" before it; nothing where they see nothing.
export function seenIn(who: Whoami | null, permission: string): string[] {
  const held = (who?.grants ?? []).filter((grant) => (grant.permissions ?? []).includes(permission));
  const whole = held.filter((grant) => !grant.partial).map((grant) => grant.scope);
  if (whole.includes("account")) {
    return ["account"];
  }
  const partly = held.map((grant) => grant.scope).filter((scope) => !whole.some((w) => contains(w, scope)));
  return [...new Set([...whole, ...partly.map((scope) => `some of ${scope}`)])];
}

// usePartly is undefined for users who see all that a permission is about, and otherwise the note for an empty list: there
// may be more than they see.
export function usePartly(permission: string): string | undefined {
  const seen = seenIn(useSession(), permission);
  return seen.length === 0 || seen[0] === "account"
    ? undefined
    : `You have the permission ${permission} in ${seen.join(", ")} only. Others are not shown.`;
}

// useMissing is undefined for what the signed-in user may do, and otherwise the note for them. The server decides; this only
// keeps people from trying what it would refuse.
export function useMissing(permission: string, scope?: string): string | undefined {
  const who = useSession();
  if (may(who, permission, scope)) {
    return undefined;
  }
  const where = scope === undefined ? "" : scope === "account" ? " for the whole account" : ` in ${scope}`;
  return `You need the permission ${permission}${where}. Ask an administrator.`;
}
