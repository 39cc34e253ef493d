import { Page } from "@/ui/page";
import { Empty } from "@/ui/states";

export default function ApplicationDiff() {
  return (
    <Page title="Diff">
      <Empty title="Nothing here yet" />
    </Page>
  );
}
