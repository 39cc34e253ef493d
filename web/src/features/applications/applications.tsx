import { Page } from "@/ui/page";
import { Empty } from "@/ui/states";

export default function Applications() {
  return (
    <Page title="Applications">
      <Empty title="Nothing here yet" />
    </Page>
  );
}
