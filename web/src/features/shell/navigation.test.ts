import { expect, it } from "vitest";
import { accessParts, firstSeen, notificationParts, offered, projectParts } from "@/lib/access";
import type { Whoami } from "@/lib/session";
import { places } from "./navigation";

const holding = (permission: string) =>
  ({ grants: [{ scope: "account", permissions: [permission] }] }) as unknown as Whoami;

it.each([
  ["/projects", Object.values(projectParts)],
  ["/notifications", Object.values(notificationParts)],
  ["/access", Object.values(accessParts)],
])("%s is offered to who sees any part of it, and begins with that one", (to, parts) => {
  const place = places.flatMap((g) => g.places).find((p) => p.to === to);
  expect(place).toBeDefined();
  for (const part of parts) {
    const who = holding(part.permission);
    expect(offered(who, place ?? { parts: [] }), part.permission).toBe(true);
    expect(firstSeen(who, parts)).toBe(part);
  }
  const nobody = holding("application_view");
  expect(offered(nobody, place ?? {})).toBe(false);
  expect(firstSeen(nobody, parts)).toBe(parts[0]);
});
