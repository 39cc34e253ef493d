import { Page } from "@/ui/page";
import { Empty } from "@/ui/states";

export default function CreateApplication() {
  return (
    <Page title="Create an application">
      <Empty title="Nothing here yet" />
    </Page>
  );
}
