import { Page } from "@/ui/page";
import { Empty } from "@/ui/states";

export default function Access() {
  return (
    <Page title="Access">
      <Empty title="Nothing here yet" />
    </Page>
  );
}
