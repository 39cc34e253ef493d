import { Page } from "@/ui/page";
import { Empty } from "@/ui/states";

export default function ApplicationParameters() {
  return (
    <Page title="Parameters">
      <Empty title="Nothing here yet" />
    </Page>
  );
}
