// SyncOption is a switch of spec.syncPolicy.syncOptions as the form has it.
export interface SyncOption {
  name: string;
  label: string;
  hint?: string;
  // values are those that mean something else than leaving it out, with their words.
  values: Record<string, string>;
}

const yes = { true: "Yes" };
const no = { false: "No" };
const either = { true: "Yes", false: "No" };

export const createNamespace: SyncOption = {
  name: "CreateNamespace",
  label: "Create the namespace",
  hint: "If it does not exist",
  values: yes,
};

export const syncOptions: SyncOption[] = [
  { name: "PruneLast", label: "Prune last", hint: "Delete after all else is applied and healthy", values: yes },
  { name: "ApplyOutOfSyncOnly", label: "Apply out-of-sync objects only", values: yes },
  { name: "ServerSideApply", label: "Server-side apply", values: either },
  { name: "Replace", label: "Replace", hint: "Replace objects in the place of applying them", values: either },
  { name: "Force", label: "Force", hint: "Delete and create what cannot be changed, with Replace", values: yes },
  { name: "Validate", label: "Validate", hint: "Let the cluster check fields of objects", values: no },
  { name: "SkipDryRunOnMissingResource", label: "Skip the dry run of unknown kinds", values: yes },
  { name: "RespectIgnoreDifferences", label: "Keep ignored differences", hint: "Also when it syncs", values: yes },
  { name: "FailOnSharedResource", label: "Fail on shared objects", hint: "Of other applications", values: yes },
  {
    name: "ClientSideApplyMigration",
    label: "Migrate from client-side apply",
    hint: "When server-side apply begins",
    values: no,
  },
  {
    name: "PrunePropagationPolicy",
    label: "Deletion of dependants",
    values: { foreground: "Foreground", background: "Background", orphan: "Orphan" },
  },
  {
    name: "Prune",
    label: "Deletion by a sync",
    values: { false: "Never", confirm: "After confirmation" },
  },
  {
    name: "Delete",
    label: "Deletion with the application",
    values: { false: "Never", confirm: "After confirmation" },
  },
];
