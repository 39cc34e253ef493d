import { Page } from "@/ui/page";
import { Empty } from "@/ui/states";

export default function Keys() {
  return (
    <Page title="Keys">
      <Empty title="Nothing here yet" />
    </Page>
  );
}
