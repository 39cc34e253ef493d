import { Page } from "@/ui/page";
import { Empty } from "@/ui/states";

export default function ServicePage() {
  return (
    <Page title="Service">
      <Empty title="Nothing here yet" />
    </Page>
  );
}
