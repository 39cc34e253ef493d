import { Page } from "@/ui/page";
import { Empty } from "@/ui/states";

export default function Certificates() {
  return (
    <Page title="Certificates">
      <Empty title="Nothing here yet" />
    </Page>
  );
}
