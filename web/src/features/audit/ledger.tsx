import { ids, useAll } from "@/lib/entity";
import { agents, environments, services } from "@/lib/kinds";
import { useAddress } from "@/lib/navigate";
import { one, type Search } from "@/lib/search";
import { useMissing } from "@/lib/session";
import { Page, Tabs } from "@/ui/page";
import { NoPermission } from "@/ui/states";
import { applicationFilter } from "./entries";
import { EntryDrawer } from "./entry";
import { TextFilter } from "./filters";
import { Operations } from "./operations";
import { BetweenTimes } from "./between";
import { AtATime } from "./times";

// ApplicationFilters choose applications, by the names that they had then: all tabs have them.
function ApplicationFilters() {
  const agentIds = ids(useAll(agents));
  const serviceIds = ids(useAll(services));
  const environmentIds = ids(useAll(environments));
  return (
    <>
      <TextFilter name="name" label="Application" />
      <TextFilter name="agent" label="Agent" options={agentIds} />
      <TextFilter name="service" label="Service" options={serviceIds} />
      <TextFilter name="environment" label="Environment" options={environmentIds} />
    </>
  );
}

// kept is what of the address the tabs share: which applications it is about.
function kept(search: Search): Search {
  const { search: q, ...rest } = applicationFilter(search);
  return { q, ...rest };
}

// Ledger is what was done with applications, what ran at a time, and what differs between two times.
export default function Ledger() {
  const [search, set] = useAddress();
  const missing = useMissing("application_view");
  if (missing) {
    return (
      <Page title="Ledger">
        <NoPermission why={missing} />
      </Page>
    );
  }
  const tab = one(search, "tab");
  const open = one(search, "open");
  const to = (name: string) => ({ to: "/ledger" as const, search: { ...kept(search), tab: name } as never });
  return (
    <Page
      title="Ledger"
      about="All operations on applications, with their results. Entries stay when an application is deleted."
    >
      <Tabs
        label="Parts of the ledger"
        tabs={[
          { ...to(""), label: "Operations" },
          { ...to("at"), label: "What ran at a time" },
          { ...to("between"), label: "Between two times" },
        ]}
      />
      {tab === "at" ? (
        <AtATime filters={<ApplicationFilters />} />
      ) : tab === "between" ? (
        <BetweenTimes filters={<ApplicationFilters />} />
      ) : (
        <Operations filters={<ApplicationFilters />} />
      )}
      {open && (
        <EntryDrawer key={open} id={open} onClose={() => set({ open: "", part: "", with: "", object: "" }, false)} />
      )}
    </Page>
  );
}
