import { useEffect } from "react";
import { firstSeen, type Need } from "./access";
import { useAddress } from "./navigate";
import { one } from "./search";
import { useMissing, useSession } from "./session";

// Part is one of the tabs of a page, with what it takes to see it.
export interface Part extends Partial<Need> {
  tab: string;
}

// usePart is the part of a page that its address names, and why it cannot be seen, if so. Without a name there it is the first
// that may be seen, and the address says it from then on.
export function usePart<T extends Part>(parts: readonly T[]): [part: T, missing: string | undefined] {
  const [search, set] = useAddress();
  const who = useSession();
  const asked = parts.find((p) => p.tab === one(search, "tab"));
  const part = asked ?? firstSeen(who, parts);
  useEffect(() => {
    if (!asked) {
      set({ tab: part.tab });
    }
  }, [asked, part.tab, set]);
  const missing = useMissing(part.permission ?? "", part.scope);
  return [part, part.permission ? missing : undefined];
}
