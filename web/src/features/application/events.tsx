import { Page } from "@/ui/page";
import { Empty } from "@/ui/states";

export default function ApplicationEvents() {
  return (
    <Page title="Events">
      <Empty title="Nothing here yet" />
    </Page>
  );
}
