import { useSearch } from "@tanstack/react-router";
import { repository as shortURL } from "@/lib/format";
import { one } from "@/lib/search";
import { Page, Tabs } from "@/ui/page";
import type { Column } from "@/ui/table";
import { type SettingItem, repositories, settingOf, templates } from "./setting";
import { Connection, SettingList } from "./setting-list";

const columns: Column<SettingItem>[] = [
  {
    key: "url",
    title: "Address",
    width: "minmax(14rem, 3fr)",
    cell: (i) => <span title={settingOf(i).fields.url}>{shortURL(settingOf(i).fields.url)}</span>,
  },
  { key: "type", title: "Type", width: "6rem", cell: (i) => settingOf(i).fields.type || "git" },
  {
    key: "project",
    title: "Argo project",
    width: "minmax(8rem, 1fr)",
    cell: (i) => settingOf(i).fields.project || "all",
  },
  { key: "agent", title: "Agent", width: "minmax(8rem, 1fr)", cell: (i) => i.agent },
];

const connection: Column<SettingItem> = {
  key: "connection",
  title: "Connection",
  width: "minmax(9rem, 1fr)",
  cell: (i) => <Connection item={i} />,
};

// Repositories are what agents read: each with its credentials, and templates of credentials for many.
export default function Repositories() {
  const template = one(useSearch({ strict: false }), "tab") === "templates";
  return (
    <Page title="Repositories" about="Repositories that agents read, with credentials that only they can read.">
      <Tabs
        label="Kinds"
        tabs={[
          { label: "Repositories", to: "/repositories", search: {}, exact: true },
          { label: "Credential templates", to: "/repositories", search: { tab: "templates" } },
        ]}
      />
      {template ? (
        <SettingList
          kind={templates}
          columns={columns}
          about="Credentials for all repositories whose address has the same prefix."
        />
      ) : (
        <SettingList
          kind={repositories}
          columns={[...columns, connection]}
          about="Public repositories need no entry. A private one does: with a password or token, a client certificate or an SSH key."
        />
      )}
    </Page>
  );
}
