import { Page } from "@/ui/page";
import { Empty } from "@/ui/states";

export default function Clusters() {
  return (
    <Page title="Clusters">
      <Empty title="Nothing here yet" />
    </Page>
  );
}
