import { Page } from "@/ui/page";
import { Empty } from "@/ui/states";

export default function Resources() {
  return (
    <Page title="Resources">
      <Empty title="Nothing here yet" />
    </Page>
  );
}
