import { projectParts } from "@/lib/access";
import { usePart } from "@/lib/part";
import { Page, Tabs } from "@/ui/page";
import { NoPermission } from "@/ui/states";
import { ArgoProjects } from "./argo-projects";
import { Organizations } from "./organizations";
import { SlipwayProjects } from "./slipway-projects";

const tabs = [
  { tab: "projects", label: "Projects", ...projectParts.projects, Show: SlipwayProjects },
  { tab: "organizations", label: "Organizations", ...projectParts.organizations, Show: Organizations },
  { tab: "argo", label: "Argo projects", ...projectParts.argo, Show: ArgoProjects },
];

// Projects are where things belong: Slipway's organizations and projects, and the Argo projects of agents, which say what
// applications may deploy where.
export default function Projects() {
  const [{ tab, Show }, missing] = usePart(tabs);
  return (
    <Page title="Projects" about="Teams and their applications, and what may be deployed where.">
      <Tabs label="Kinds" tabs={tabs.map((t) => ({ label: t.label, to: "/projects", search: { tab: t.tab } }))} />
      {missing ? <NoPermission why={missing} /> : <Show key={tab} />}
    </Page>
  );
}
