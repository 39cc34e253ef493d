import { Page } from "@/ui/page";
import { Empty } from "@/ui/states";

export default function ApplicationHistory() {
  return (
    <Page title="History">
      <Empty title="Nothing here yet" />
    </Page>
  );
}
