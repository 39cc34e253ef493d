import { Page } from "@/ui/page";
import { Empty } from "@/ui/states";

export default function Agents() {
  return (
    <Page title="Agents">
      <Empty title="Nothing here yet" />
    </Page>
  );
}
