import { Page } from "@/ui/page";
import { Empty } from "@/ui/states";

export default function ApplicationSets() {
  return (
    <Page title="Application sets">
      <Empty title="Nothing here yet" />
    </Page>
  );
}
