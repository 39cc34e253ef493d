import { Page } from "@/ui/page";
import { Empty } from "@/ui/states";

export default function Jobs() {
  return (
    <Page title="Jobs">
      <Empty title="Nothing here yet" />
    </Page>
  );
}
