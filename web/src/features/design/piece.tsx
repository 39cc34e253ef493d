import type { ReactNode } from "react";

// Piece is one part of the page, of which the spec makes a picture by its name.
export function Piece({ name, children }: { name: string; children: ReactNode }) {
  return (
    <section data-piece={name} aria-label={name} className="space-y-3 border-b bg-ground p-4">
      <h2 className="text-sm font-medium text-muted">{name}</h2>
      {children}
    </section>
  );
}

// Row is some of a kind beside each other.
export const Row = ({ children }: { children: ReactNode }) => (
  <div className="flex flex-wrap items-center gap-3">{children}</div>
);
