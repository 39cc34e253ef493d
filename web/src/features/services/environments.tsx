import { Page } from "@/ui/page";
import { Empty } from "@/ui/states";

export default function Environments() {
  return (
    <Page title="Environments">
      <Empty title="Nothing here yet" />
    </Page>
  );
}
