import { Page } from "@/ui/page";
import { Empty } from "@/ui/states";

export default function ApplicationSet() {
  return (
    <Page title="Application set">
      <Empty title="Nothing here yet" />
    </Page>
  );
}
