import { type ClassValue, clsx } from "clsx";
import { twMerge } from "tailwind-merge";

// cn joins class names; of two Tailwind classes for the same thing the later one counts.
export function cn(...inputs: ClassValue[]): string {
  return twMerge(clsx(inputs));
}
