import { useEffect, useState } from "react";

// useSettled is a value once it has not changed for a moment: what is asked for it takes the time of others.
export function useSettled<T>(value: T, ms: number): T {
  const [settled, set] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => set(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}
