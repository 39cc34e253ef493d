import { Page } from "@/ui/page";
import { Empty } from "@/ui/states";

export default function Services() {
  return (
    <Page title="Services">
      <Empty title="Nothing here yet" />
    </Page>
  );
}
