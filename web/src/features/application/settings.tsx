import { Page } from "@/ui/page";
import { Empty } from "@/ui/states";

export default function ApplicationSettings() {
  return (
    <Page title="Settings">
      <Empty title="Nothing here yet" />
    </Page>
  );
}
