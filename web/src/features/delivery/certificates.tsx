import { Page } from "@/ui/page";
import type { Column } from "@/ui/table";
import { certificates, knownHosts, type SettingItem, settingOf } from "./setting";
import { SettingList } from "./setting-list";

const columns: Column<SettingItem>[] = [
  { key: "host", title: "Host", width: "minmax(10rem, 1fr)", cell: (i) => settingOf(i).fields.serverName || i.name },
  { key: "type", title: "Type", width: "7rem", cell: (i) => (settingOf(i).fields.certType === "ssh" ? "SSH" : "TLS") },
  { key: "sub", title: "Key type", width: "minmax(8rem, 1fr)", cell: (i) => settingOf(i).fields.certSubType },
  {
    key: "fingerprint",
    title: "Fingerprint",
    width: "minmax(14rem, 2fr)",
    cell: (i) => settingOf(i).fields.fingerprint,
  },
  { key: "agent", title: "Agent", width: "minmax(8rem, 1fr)", cell: (i) => i.agent },
];

// Certificates are those of Git servers and registries that agents trust, and SSH host keys.
export default function Certificates() {
  return (
    <Page
      title="Certificates"
      about="Certificates and SSH host keys that agents trust, in addition to those of the system."
    >
      <SettingList
        kind={certificates}
        kinds={[certificates, knownHosts]}
        columns={columns}
        about="Add an entry for a Git server with a certificate of your own authority, or for one that uses SSH."
      />
    </Page>
  );
}
