import { Page } from "@/ui/page";
import type { Column } from "@/ui/table";
import { keys, type SettingItem, settingOf } from "./setting";
import { SettingList } from "./setting-list";

const columns: Column<SettingItem>[] = [
  { key: "key", title: "Key", width: "11rem", cell: (i) => <code>{settingOf(i).fields.keyID || i.name}</code> },
  { key: "owner", title: "Owner", width: "minmax(12rem, 1fr)", cell: (i) => settingOf(i).fields.owner },
  {
    key: "fingerprint",
    title: "Fingerprint",
    width: "minmax(14rem, 2fr)",
    cell: (i) => <code>{settingOf(i).fields.fingerprint}</code>,
  },
  { key: "agent", title: "Agent", width: "minmax(8rem, 1fr)", cell: (i) => i.agent },
];

// Keys are the public keys that commits are signed with.
export default function Keys() {
  return (
    <Page
      title="Signing keys"
      about="Public GnuPG keys with which an Argo CD beside an agent verifies commits. Slipway's own engine checks no signatures yet."
    >
      <SettingList
        kind={keys}
        columns={columns}
        about="An Argo project whose applications an Argo CD deploys can require commits that are signed with one of these keys."
      />
    </Page>
  );
}
