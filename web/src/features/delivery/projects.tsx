import { useAddress } from "@/lib/navigate";
import { one } from "@/lib/search";
import { Page, Tabs } from "@/ui/page";
import { ArgoProjects } from "./argo-projects";
import { Organizations } from "./organizations";
import { SlipwayProjects } from "./slipway-projects";

// Projects are where things belong: Slipway's organizations and projects, and the Argo projects of agents, which say what
// applications may deploy where.
export default function Projects() {
  const [search] = useAddress();
  const tab = one(search, "tab");
  return (
    <Page title="Projects" about="Who works with what, and what applications may deploy where.">
      <Tabs
        label="Kinds"
        tabs={[
          { label: "Projects", to: "/projects", search: {}, exact: true },
          { label: "Organizations", to: "/projects", search: { tab: "organizations" } },
          { label: "Argo projects", to: "/projects", search: { tab: "argo" } },
        ]}
      />
      {tab === "argo" ? <ArgoProjects /> : tab === "organizations" ? <Organizations /> : <SlipwayProjects />}
    </Page>
  );
}
