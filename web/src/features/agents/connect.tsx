import { Page } from "@/ui/page";
import { Empty } from "@/ui/states";

export default function ConnectAgent() {
  return (
    <Page title="Connect an agent">
      <Empty title="Nothing here yet" />
    </Page>
  );
}
