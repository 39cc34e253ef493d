import { Page } from "@/ui/page";
import { Empty } from "@/ui/states";

export default function Ledger() {
  return (
    <Page title="Ledger">
      <Empty title="Nothing here yet" />
    </Page>
  );
}
