import { Page } from "@/ui/page";
import { Empty } from "@/ui/states";

export default function Profile() {
  return (
    <Page title="Profile">
      <Empty title="Nothing here yet" />
    </Page>
  );
}
