import { Page } from "@/ui/page";
import { Empty } from "@/ui/states";

export default function Audit() {
  return (
    <Page title="Audit">
      <Empty title="Nothing here yet" />
    </Page>
  );
}
