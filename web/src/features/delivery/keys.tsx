import { Page } from "@/ui/page";
import type { Column } from "@/ui/table";
import { keys, type SettingItem, settingOf } from "./setting";
import { SettingList } from "./setting-list";

const columns: Column<SettingItem>[] = [
  { key: "key", title: "Key", width: "11rem", cell: (i) => <code>{settingOf(i).fields.keyID || i.name}</code> },
  { key: "owner", title: "Owner", width: "minmax(12rem, 1fr)", cell: (i) => settingOf(i).fields.owner },
  { key: "type", title: "Type", width: "7rem", cell: (i) => settingOf(i).fields.subType },
  { key: "expires", title: "Expires", width: "minmax(8rem, 1fr)", cell: (i) => expiry(settingOf(i).fields) },
  {
    key: "fingerprint",
    title: "Fingerprint",
    width: "minmax(14rem, 2fr)",
    cell: (i) => <code>{settingOf(i).fields.fingerprint}</code>,
  },
  { key: "agent", title: "Agent", width: "minmax(8rem, 1fr)", cell: (i) => i.agent },
];

// expiry is when a key ends, or why it is not used.
function expiry(fields: Record<string, string>): string {
  if (fields.unusable) {
    return `Not used: ${fields.unusable}`;
  }
  return fields.revoked ? "Revoked" : (fields.notAfter?.slice(0, 10) ?? "Never");
}

// Keys are the public keys that commits are signed with.
export default function Keys() {
  return (
    <Page title="Signing keys" about="Public GnuPG keys with which agents verify signatures of commits and tags.">
      <SettingList
        kind={keys}
        columns={columns}
        about="An Argo project can require commits that are signed with one of these keys. It names the keys that it allows."
      />
    </Page>
  );
}
