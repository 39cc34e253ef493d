// What the form of an Application has, as data: one renderer shows it, and a test holds it against the schema.

export interface AppField {
  // at is the name below what it belongs to, with dots for what is deeper.
  at: string;
  label: string;
  // as is how it is written: values is a text or an object of a chart, own has a piece of the form of its own.
  as: "text" | "number" | "count" | "flag" | "lines" | "pairs" | "switches" | "area" | "values" | "rows" | "own";
  hint?: string;
  placeholder?: string;
  // offers names the list that is found in the repository.
  offers?: "valueFiles" | "parameters" | "images" | "components" | "files" | "plugins" | "announced";
  // one is the word for one row.
  one?: string;
  columns?: AppField[];
}

const kubernetes: AppField[] = [
  {
    at: "kubeVersion",
    label: "Kubernetes version",
    as: "text",
    hint: "Default: that of the cluster",
    placeholder: "1.34",
  },
  { at: "apiVersions", label: "API versions", as: "lines", hint: "One per line, as [group/]version/kind" },
];

export const sourceFields: AppField[] = [
  { at: "repoURL", label: "Repository", as: "own" },
  { at: "chart", label: "Chart", as: "own" },
  { at: "targetRevision", label: "Revision", as: "own" },
  { at: "path", label: "Path", as: "own" },
  { at: "ref", label: "Reference name", as: "own" },
  { at: "name", label: "Source name", as: "own" },
  { at: "tagPrefix", label: "Tag prefix", as: "own" },
];

// toolFields are the settings of each tool: first what is used often, and more for the rest.
export const toolFields: Record<
  "helm" | "kustomize" | "directory" | "plugin",
  { first: AppField[]; more: AppField[] }
> = {
  helm: {
    first: [
      {
        at: "valueFiles",
        label: "Values files",
        as: "lines",
        offers: "valueFiles",
        hint: "One per line; later files win. $name/ reaches into the source with that reference name.",
      },
      {
        at: "parameters",
        label: "Parameters",
        as: "rows",
        one: "parameter",
        columns: [
          { at: "name", label: "Name", as: "text", offers: "parameters", placeholder: "image.tag" },
          { at: "value", label: "Value", as: "text" },
          { at: "forceString", label: "As text", as: "flag" },
        ],
      },
      { at: "values", label: "Values", as: "values", hint: "YAML. It wins over values files." },
      { at: "releaseName", label: "Release name", as: "text", hint: "Default: the name of the application" },
    ],
    more: [
      {
        at: "fileParameters",
        label: "File parameters",
        as: "rows",
        one: "file parameter",
        columns: [
          { at: "name", label: "Name", as: "text", offers: "parameters" },
          { at: "path", label: "File", as: "text", placeholder: "files/config.json" },
        ],
      },
      { at: "namespace", label: "Release namespace", as: "text", hint: "Default: that of the destination" },
      { at: "version", label: "Helm version", as: "text", hint: "v3 or v4. Default: the version of the agent" },
      ...kubernetes,
      { at: "ignoreMissingValueFiles", label: "Ignore missing values files", as: "flag" },
      { at: "skipCrds", label: "Skip CRDs", as: "flag", hint: "Leave out the directory crds" },
      { at: "skipTests", label: "Skip tests", as: "flag", hint: "Leave out test hooks" },
      { at: "skipSchemaValidation", label: "Skip schema validation", as: "flag" },
      {
        at: "passCredentials",
        label: "Pass credentials",
        as: "flag",
        hint: "Only Argo CD reads it; here the setting of the repository decides",
      },
    ],
  },
  kustomize: {
    first: [
      {
        at: "images",
        label: "Images",
        as: "lines",
        offers: "images",
        hint: "One per line, as [name=]newName[:tag][@digest]",
      },
      {
        at: "replicas",
        label: "Replicas",
        as: "rows",
        one: "workload",
        columns: [
          { at: "name", label: "Workload", as: "text" },
          { at: "count", label: "Replicas", as: "count" },
        ],
      },
      { at: "namePrefix", label: "Name prefix", as: "text" },
      { at: "nameSuffix", label: "Name suffix", as: "text" },
      { at: "namespace", label: "Namespace of all objects", as: "text", hint: "Default: unchanged" },
    ],
    more: [
      {
        at: "patches",
        label: "Patches",
        as: "rows",
        one: "patch",
        columns: [
          { at: "patch", label: "Patch", as: "area", hint: "A strategic merge patch or a JSON patch" },
          { at: "path", label: "File with the patch", as: "text", hint: "In the place of a patch written here" },
          { at: "target.kind", label: "Target kind", as: "text" },
          { at: "target.name", label: "Target name", as: "text", hint: "A regular expression" },
          { at: "target.group", label: "Target group", as: "text" },
          { at: "target.version", label: "Target version", as: "text" },
          { at: "target.namespace", label: "Target namespace", as: "text" },
          { at: "target.labelSelector", label: "Target labels", as: "text" },
          { at: "target.annotationSelector", label: "Target annotations", as: "text" },
          { at: "options", label: "Patch options", as: "switches", hint: "Such as allowNameChange=true" },
        ],
      },
      {
        at: "components",
        label: "Components",
        as: "lines",
        offers: "components",
        hint: "One directory per line, relative to the path",
      },
      { at: "ignoreMissingComponents", label: "Ignore missing components", as: "flag" },
      { at: "commonLabels", label: "Common labels", as: "pairs", hint: "One per line, as name=value" },
      { at: "labelWithoutSelector", label: "Labels without selectors", as: "flag" },
      { at: "labelIncludeTemplates", label: "Labels in pod templates", as: "flag" },
      { at: "forceCommonLabels", label: "Replace labels of the kustomization", as: "flag" },
      { at: "commonAnnotations", label: "Common annotations", as: "pairs", hint: "One per line, as name=value" },
      { at: "forceCommonAnnotations", label: "Replace annotations of the kustomization", as: "flag" },
      {
        at: "commonAnnotationsEnvsubst",
        label: "Variables in annotations",
        as: "flag",
        hint: "Fill in variables such as $ARGOCD_APP_NAME",
      },
      { at: "version", label: "Kustomize version", as: "text", hint: "Default: the version of the agent" },
      ...kubernetes,
    ],
  },
  directory: {
    first: [
      { at: "recurse", label: "Include subdirectories", as: "flag" },
      { at: "include", label: "Include files", as: "text", hint: "A glob. Default: all", placeholder: "{a,b}*.yaml" },
      { at: "exclude", label: "Exclude files", as: "text", hint: "A glob. It wins over the files to include." },
    ],
    more: [
      { at: "disableExtensionFilter", label: "Read files of any extension", as: "flag" },
      {
        at: "jsonnet.extVars",
        label: "Jsonnet external variables",
        as: "rows",
        one: "external variable",
        columns: jsonnetVariable(),
      },
      {
        at: "jsonnet.tlas",
        label: "Jsonnet top-level arguments",
        as: "rows",
        one: "argument",
        columns: jsonnetVariable(),
      },
      {
        at: "jsonnet.libs",
        label: "Jsonnet libraries",
        as: "lines",
        hint: "One directory per line, from the root of the repository",
      },
    ],
  },
  plugin: {
    first: [
      {
        at: "name",
        label: "Plugin",
        as: "text",
        offers: "plugins",
        hint: "Default: the plugin that detects the files",
      },
      {
        at: "env",
        label: "Environment variables",
        as: "rows",
        one: "variable",
        columns: [
          { at: "name", label: "Name", as: "text", hint: "The plugin sees it with ARGOCD_ENV_ in front." },
          { at: "value", label: "Value", as: "text" },
        ],
      },
      {
        at: "parameters",
        label: "Parameters",
        as: "rows",
        one: "parameter",
        columns: [
          { at: "name", label: "Name", as: "text", offers: "announced" },
          { at: "string", label: "Text", as: "text" },
          { at: "array", label: "List", as: "lines", hint: "One per line" },
          { at: "map", label: "Map", as: "pairs", hint: "One per line, as name=value" },
        ],
      },
    ],
    more: [],
  },
};

function jsonnetVariable(): AppField[] {
  return [
    { at: "name", label: "Name", as: "text" },
    { at: "value", label: "Value", as: "text" },
    { at: "code", label: "As code", as: "flag", hint: "The value is Jsonnet." },
  ];
}

// Those of the Application itself, below spec.
export const retryFields: AppField[] = [
  {
    at: "syncPolicy.retry.limit",
    label: "Retries after a failure",
    as: "number",
    hint: "Below 0 for no limit. Default: 5 with auto-sync",
  },
  { at: "syncPolicy.retry.backoff.duration", label: "First wait", as: "text", placeholder: "5s" },
  { at: "syncPolicy.retry.backoff.factor", label: "Factor", as: "number", placeholder: "2" },
  { at: "syncPolicy.retry.backoff.maxDuration", label: "Longest wait", as: "text", placeholder: "3m" },
  { at: "syncPolicy.retry.refresh", label: "Retry with the newest revision", as: "flag" },
];

export const namespaceFields: AppField[] = [
  {
    at: "syncPolicy.managedNamespaceMetadata.labels",
    label: "Labels of the namespace",
    as: "pairs",
    hint: "One per line, as name=value",
  },
  {
    at: "syncPolicy.managedNamespaceMetadata.annotations",
    label: "Annotations of the namespace",
    as: "pairs",
    hint: "One per line, as name=value",
  },
];

export const differenceFields: AppField[] = [
  {
    at: "ignoreDifferences",
    label: "Ignored differences",
    as: "rows",
    one: "rule",
    columns: [
      { at: "kind", label: "Kind", as: "text", hint: "A glob; * is every kind.", placeholder: "Deployment" },
      { at: "group", label: "Group", as: "text", hint: "A glob. Default: the core group", placeholder: "apps" },
      { at: "name", label: "Object name", as: "text", hint: "Default: all" },
      { at: "namespace", label: "Object namespace", as: "text", hint: "Default: all" },
      { at: "jsonPointers", label: "JSON pointers", as: "lines", placeholder: "/spec/replicas" },
      { at: "jqPathExpressions", label: "jq expressions", as: "lines" },
      { at: "managedFieldsManagers", label: "Field managers", as: "lines", hint: "All that one of them owns" },
    ],
  },
];

export const otherFields: AppField[] = [
  {
    at: "revisionHistoryLimit",
    label: "Revision history limit",
    as: "number",
    hint: "Deployments in the history of the Application. Default: 10",
  },
  {
    at: "info",
    label: "Information",
    as: "rows",
    one: "line",
    columns: [
      { at: "name", label: "Title", as: "text" },
      { at: "value", label: "Text", as: "text", hint: "An address becomes a link." },
    ],
  },
];

// labelFields are beside the spec, in the metadata.
export const labelFields: AppField[] = [
  { at: "labels", label: "Labels", as: "pairs", hint: "One per line, as name=value" },
  { at: "annotations", label: "Annotations", as: "pairs", hint: "One per line, as name=value" },
];

// ownFields are written by pieces of the form that are made for them.
export const ownFields: AppField[] = [
  "project",
  "destination.server",
  "destination.name",
  "destination.namespace",
  "syncPolicy.automated.enabled",
  "syncPolicy.automated.prune",
  "syncPolicy.automated.selfHeal",
  "syncPolicy.automated.allowEmpty",
  "syncPolicy.syncOptions",
].map((at) => ({ at, label: at, as: "own" }));

// leftOut are the fields of the schema that the form does not have, with the reason; the YAML has them.
export const leftOut: Record<string, string> = {
  sourceHydrator: "two sources in one, for which the YAML is the form: few applications have it",
};
