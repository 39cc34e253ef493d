import { Page } from "@/ui/page";
import { Empty } from "@/ui/states";

export default function Repositories() {
  return (
    <Page title="Repositories">
      <Empty title="Nothing here yet" />
    </Page>
  );
}
