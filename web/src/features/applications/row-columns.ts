// A column of the table has cells of two lines, and can be sorted by each.
interface Column {
  key: string;
  sorts: { title: string; by: string }[];
  width: string;
}

export const columns: Column[] = [
  {
    key: "name",
    sorts: [
      { title: "Application", by: "name" },
      { title: "project", by: "argoProject" },
    ],
    width: "minmax(12rem, 2fr)",
  },
  { key: "health", sorts: [{ title: "Health", by: "attention" }], width: "7.25rem" },
  { key: "sync", sorts: [{ title: "Sync", by: "sync" }], width: "7rem" },
  { key: "version", sorts: [{ title: "Service, version", by: "service" }], width: "minmax(7.5rem, 1fr)" },
  {
    key: "environment",
    sorts: [
      { title: "Environment", by: "environment" },
      { title: "cluster", by: "destination" },
    ],
    width: "minmax(9.5rem, 1.2fr)",
  },
  { key: "source", sorts: [{ title: "Source", by: "repoURL" }], width: "minmax(8rem, 1.6fr)" },
  { key: "last", sorts: [{ title: "Operation", by: "finishedAt" }], width: "6rem" },
];

export const template = `2.25rem ${columns.map((c) => c.width).join(" ")} 4rem`;
