import { Page } from "@/ui/page";
import { Empty } from "@/ui/states";

export default function Notifications() {
  return (
    <Page title="Notifications">
      <Empty title="Nothing here yet" />
    </Page>
  );
}
