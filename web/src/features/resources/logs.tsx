import { Page } from "@/ui/page";
import { Empty } from "@/ui/states";

export default function ApplicationLogs() {
  return (
    <Page title="Logs">
      <Empty title="Nothing here yet" />
    </Page>
  );
}
