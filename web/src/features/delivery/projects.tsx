import { Page } from "@/ui/page";
import { Empty } from "@/ui/states";

export default function Projects() {
  return (
    <Page title="Projects">
      <Empty title="Nothing here yet" />
    </Page>
  );
}
