import { Page } from "@/ui/page";
import { Empty } from "@/ui/states";

export default function ApplicationSync() {
  return (
    <Page title="Sync">
      <Empty title="Nothing here yet" />
    </Page>
  );
}
