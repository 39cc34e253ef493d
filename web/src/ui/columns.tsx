import { Ago } from "./ago";
import type { Column } from "./table";

// Columns that tables of entities have in common.

export const named = <T extends { name: string; displayName?: string }>(): Column<T> => ({
  key: "name",
  title: "Name",
  width: "minmax(12rem,2fr)",
  sort: "name",
  cell: (row) => (
    <>
      <span className="font-medium">{row.name}</span>
      {row.displayName && <span className="ml-2 text-muted">{row.displayName}</span>}
    </>
  ),
});

export const scoped = <T extends { scope?: string }>(): Column<T> => ({
  key: "scope",
  title: "Scope",
  width: "minmax(8rem,1fr)",
  cell: (row) => row.scope,
});

export const described = <T extends { description?: string }>(): Column<T> => ({
  key: "description",
  title: "Description",
  width: "minmax(10rem,2fr)",
  cell: (row) => <span className="text-muted">{row.description}</span>,
});

export const updated = <T extends { updatedAt?: string }>(): Column<T> => ({
  key: "updated",
  title: "Changed",
  width: "9.5rem",
  sort: "updatedAt",
  cell: (row) => <Ago at={row.updatedAt} />,
});
