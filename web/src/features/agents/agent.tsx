import { Page } from "@/ui/page";
import { Empty } from "@/ui/states";

export default function AgentPage() {
  return (
    <Page title="Agent">
      <Empty title="Nothing here yet" />
    </Page>
  );
}
