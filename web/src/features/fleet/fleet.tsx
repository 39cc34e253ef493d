import { Page } from "@/ui/page";
import { Empty } from "@/ui/states";

export default function Fleet() {
  return (
    <Page title="Fleet">
      <Empty title="Nothing here yet" />
    </Page>
  );
}
