import { Page } from "@/ui/page";
import { Empty } from "@/ui/states";

export default function ApplicationWhy() {
  return (
    <Page title="Why">
      <Empty title="Nothing here yet" />
    </Page>
  );
}
