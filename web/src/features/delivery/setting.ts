import type { Schemas } from "@/api/client";

// Settings are what an agent's cluster keeps beside its Applications: repositories, credentials, clusters, certificates and
// keys. Of secret fields only the names are known here.

export type SettingItem = Schemas["Item"];

// ClusterState is what an agent knows of a cluster. What it does not know is missing.
export interface ClusterState {
  kubernetes?: string;
  // latency in milliseconds
  latency?: number;
  kinds?: number;
  applications: number;
  objects?: number;
  // implied: no Secret describes it, it is the agent's own
  implied?: boolean;
  // off: it is switched off as a destination
  off?: boolean;
}

// Setting is the resource of such an item.
export interface Setting {
  fields: Record<string, string>;
  secrets?: string[];
  labels?: Record<string, string>;
  connection?: { status: string; message?: string; at?: string };
  // cluster is what the agent knows of a cluster; an older agent does not report it.
  cluster?: ClusterState;
  version?: string;
}

export interface SettingField {
  name: string;
  label: string;
  hint?: string;
  secret?: boolean;
  // lines: written in several lines, such as a key
  lines?: boolean;
  // choices: those with a condition are offered only where it holds
  choices?: [value: string, label: string, when?: Condition][];
  // flag: true or false
  flag?: boolean;
  required?: boolean;
  // fixed: it names the setting and does not change
  fixed?: boolean;
  when?: Condition;
}

// Condition decides by the values of a form, and by whether an Argo CD works beside the agent.
type Condition = (values: Record<string, string>, beside: boolean) => boolean;

export interface Kind {
  // type is what a seal is for, and noun its part of the API's address.
  type: "repository" | "repocreds" | "cluster" | "certificate" | "knownhost" | "gpgkey";
  // event names it in events and keys of queries.
  event: string;
  noun: "repositories" | "credential-templates" | "clusters" | "certificates" | "known-hosts" | "gpg-keys";
  called: string;
  plural: string;
  permission: string;
  // tests: a connection can be tried
  tests: boolean;
  fields: SettingField[];
  // title is the field that it is known by.
  title: string;
  // idle are fields that Slipway's own engine makes nothing of.
  idle?: string[];
}

// auth is a choice of the form, not a field of the setting.
export const auth = "_auth";

const method = (value: string) => (values: Record<string, string>) => values[auth] === value;
const git = (values: Record<string, string>) => (values.type || "git") === "git";
const helm = (values: Record<string, string>) => values.type === "helm";
const registry = (values: Record<string, string>) =>
  values.type === "oci" || (helm(values) && values.enableOCI === "true");
// An Argo CD does not know these ways.
const own: Condition = (values, beside) => registry(values) && !beside;

const repository: SettingField[] = [
  { name: "url", label: "Address", required: true, fixed: true, hint: "https://…, ssh://…, git@host:path or oci://…" },
  {
    name: "type",
    label: "Type",
    choices: [
      ["git", "Git"],
      ["helm", "Helm repository"],
      ["oci", "OCI registry"],
    ],
  },
  { name: "enableOCI", label: "It is an OCI registry of charts, whose address has no scheme", flag: true, when: helm },
];

const project: SettingField = {
  name: "project",
  label: "Argo project",
  hint: "Only applications of this project may use it. Default: all",
};

const credentials: SettingField[] = [
  {
    name: auth,
    label: "Sign in with",
    choices: [
      ["none", "nothing (public), or unchanged"],
      ["password", "user name and password or token"],
      ["bearer", "bearer token"],
      ["docker", "configuration of Docker", own],
      ["cloud", "identity of the agent's pod", own],
      ["ssh", "SSH key", git],
      ["app", "GitHub App", git],
      ["google", "service account of Google Cloud", git],
      ["azure", "Azure service principal", git],
      ["workload", "Azure workload identity of the agent", (v) => git(v) || registry(v)],
      ["tls", "client certificate"],
    ],
  },
  { name: "username", label: "User name", secret: true, when: method("password") },
  { name: "password", label: "Password or token", secret: true, when: method("password") },
  { name: "bearerToken", label: "Bearer token", secret: true, when: method("bearer") },
  {
    name: ".dockerconfigjson",
    label: "Configuration of Docker (JSON)",
    hint: "With credentials of registries",
    secret: true,
    lines: true,
    when: (v, beside) => own(v, beside) && method("docker")(v),
  },
  {
    name: "workloadIdentity",
    label: "Cloud",
    choices: [
      ["aws", "AWS"],
      ["gcp", "Google Cloud"],
      ["azure", "Azure"],
    ],
    when: (v, beside) => own(v, beside) && method("cloud")(v),
  },
  { name: "sshPrivateKey", label: "SSH private key", secret: true, lines: true, when: method("ssh") },
  { name: "githubAppID", label: "GitHub App id", when: method("app") },
  {
    name: "githubAppInstallationID",
    label: "Installation id",
    hint: "Default: the installation of the repository's owner",
    when: method("app"),
  },
  {
    name: "githubAppEnterpriseBaseUrl",
    label: "API of GitHub Enterprise",
    hint: "Default: github.com",
    when: method("app"),
  },
  { name: "githubAppPrivateKey", label: "GitHub App private key", secret: true, lines: true, when: method("app") },
  {
    name: "gcpServiceAccountKey",
    label: "Key of the service account (JSON)",
    secret: true,
    lines: true,
    when: method("google"),
  },
  { name: "azureServicePrincipalTenantId", label: "Azure tenant id", when: method("azure") },
  { name: "azureServicePrincipalClientId", label: "Azure client id", when: method("azure") },
  { name: "azureServicePrincipalClientSecret", label: "Azure client secret", secret: true, when: method("azure") },
  {
    name: "azureActiveDirectoryEndpoint",
    label: "Microsoft Entra endpoint",
    hint: "Default: that of Azure's public cloud",
    when: method("azure"),
  },
  {
    name: "useAzureWorkloadIdentity",
    label: "Use the workload identity of the agent, for Azure DevOps and Azure's registries",
    flag: true,
    when: method("workload"),
  },
  { name: "tlsClientCertData", label: "Client certificate (PEM)", secret: true, lines: true, when: method("tls") },
  { name: "tlsClientCertKey", label: "Key of the certificate (PEM)", secret: true, lines: true, when: method("tls") },
  { name: "proxy", label: "Proxy", hint: "http://…, https://…, socks5://… or socks5h://…" },
  {
    name: "noProxy",
    label: "Hosts without proxy",
    hint: "Separated by commas",
    when: (v) => Boolean(v.proxy),
  },
  { name: "forceHttpBasicAuth", label: "Send the password although there is a bearer token", flag: true, when: git },
  { name: "depth", label: "Depth", hint: "Commits of each reference that are fetched. Default: all", when: git },
  { name: "insecure", label: "Do not check its certificate or host key", flag: true },
  { name: "insecureOCIForceHttp", label: "Connect without TLS", flag: true, when: registry },
  {
    name: "passCredentials",
    label: "Send the credential to all addresses that the index names",
    hint: "Without it, only below the address of the repository or of the credential template",
    flag: true,
    when: (v, beside) => helm(v) && !registry(v) && !beside,
  },
  { name: "enableLfs", label: "Fetch files of Git LFS", flag: true, when: git },
];

export const repositories: Kind = {
  type: "repository",
  event: "repository",
  noun: "repositories",
  called: "repository",
  plural: "repositories",
  permission: "repository",
  tests: true,
  title: "url",
  idle: ["webhookManifestCacheWarmDisabled"],
  fields: [
    ...repository,
    {
      name: "name",
      label: "Repository name",
      hint: "Charts name it as @name in their dependencies",
      when: (v) => !git(v),
    },
    project,
    ...credentials,
  ],
};

export const templates: Kind = {
  type: "repocreds",
  event: "repository",
  noun: "credential-templates",
  called: "credential template",
  plural: "credential templates",
  permission: "repository",
  tests: false,
  title: "url",
  idle: ["webhookManifestCacheWarmDisabled"],
  fields: [
    { ...repository[0], hint: "Applies to all repositories whose address begins with this" } as SettingField,
    ...repository.slice(1),
    project,
    ...credentials,
  ],
};

export const clusters: Kind = {
  type: "cluster",
  event: "cluster",
  noun: "clusters",
  called: "cluster",
  plural: "clusters",
  permission: "cluster",
  tests: true,
  title: "name",
  idle: ["shard"],
  fields: [
    { name: "name", label: "Name", required: true, hint: "The name that applications use" },
    { name: "server", label: "Address of the API server", required: true, fixed: true, hint: "https://host:6443" },
    {
      name: "project",
      label: "Argo project",
      hint: "Only applications of this project may deploy to it. Default: all",
    },
    {
      name: "namespaces",
      label: "Namespaces",
      hint: "Separated by commas. Nothing else is read or written. Default: all",
    },
    {
      name: "clusterResources",
      label: "With namespaces: also objects of the cluster",
      flag: true,
      when: (v) => Boolean(v.namespaces),
    },
    {
      name: "config",
      label: "Credentials",
      secret: true,
      lines: true,
      hint: 'As Argo CD\'s cluster Secrets have them: {"bearerToken":"…","tlsClientConfig":{"caData":"…"}}',
    },
  ],
};

export const certificates: Kind = {
  type: "certificate",
  event: "cert",
  noun: "certificates",
  called: "certificate",
  plural: "certificates",
  permission: "cert",
  tests: false,
  title: "serverName",
  fields: [
    { name: "serverName", label: "Host", required: true, fixed: true, hint: "git.example.org" },
    { name: "certData", label: "Certificates (PEM)", required: true, lines: true },
  ],
};

export const knownHosts: Kind = {
  type: "knownhost",
  event: "cert",
  noun: "known-hosts",
  called: "known host",
  plural: "known hosts",
  permission: "cert",
  tests: false,
  title: "serverName",
  fields: [{ name: "data", label: "Host keys", required: true, lines: true, hint: "Output of ssh-keyscan" }],
};

export const keys: Kind = {
  type: "gpgkey",
  event: "gpgkey",
  noun: "gpg-keys",
  called: "signing key",
  plural: "signing keys",
  permission: "gpgkey",
  tests: false,
  title: "keyID",
  fields: [
    { name: "keyID", label: "Key id", required: true, fixed: true, hint: "16 hexadecimal digits" },
    { name: "keyData", label: "Public key", required: true, lines: true, hint: "Output of gpg --armor --export" },
  ],
};

// settingOf is the setting that an item holds.
export function settingOf(item: SettingItem): Setting {
  const raw = item.resource as Partial<Setting> | undefined;
  return { ...raw, fields: raw?.fields ?? {} };
}

// nameOf makes a name for the agent's cluster from what a setting is known by.
export function nameOf(kind: Kind, values: Record<string, string>): string {
  if (kind.type === "gpgkey") {
    return values.keyID ?? "";
  }
  if (kind.type === "certificate") {
    return values.serverName ?? "";
  }
  const slug = (values[kind.title] ?? "")
    .toLowerCase()
    .replace(/^[a-z+]+:\/\//, "")
    .replace(/^[^@/]*@/, "")
    .replace(/\.git$/, "")
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-+|-+$/g, "")
    .slice(0, 60);
  return kind.type === "knownhost" ? "known-host" : slug ? `${kind.type}-${slug}` : "";
}

// shownFields are the fields of a form for these values: none that has no effect at the agent, and no such choice, unless it is
// the value that is there.
export function shownFields(kind: Kind, values: Record<string, string>, beside: boolean): SettingField[] {
  return kind.fields
    .filter((f) => !f.when || f.when(values, beside))
    .map((f) =>
      f.choices
        ? {
            ...f,
            choices: f.choices.filter(([value, , when]) => !when || when(values, beside) || value === values[f.name]),
          }
        : f,
    );
}

// withoutEffect names the fields of a setting that its agent makes nothing of: an Argo CD that is gone has left them.
export function withoutEffect(fields: Record<string, string>, kind: Kind, beside: boolean): string[] {
  return beside ? [] : (kind.idle ?? []).filter((name) => !["", "false"].includes(fields[name] ?? ""));
}

// divide splits the input: fields that are sent open, and fields that are sealed first. Fields that are not shown, and
// secrets that were left empty, are not sent: they stay as they are.
export function divide(
  kind: Kind,
  values: Record<string, string>,
  beside = false,
): { fields: Record<string, string>; secrets: Record<string, string> } {
  const fields: Record<string, string> = {};
  const secrets: Record<string, string> = {};
  for (const field of shownFields(kind, values, beside)) {
    const value = values[field.name];
    if (field.name === auth || value === undefined) {
      continue;
    }
    if (!field.secret) {
      fields[field.name] = value;
    } else if (value !== "") {
      secrets[field.name] = field.lines && !value.endsWith("\n") && field.name !== "config" ? `${value}\n` : value;
    }
  }
  if (kind.type === "gpgkey") {
    delete fields.keyID;
  }
  return { fields, secrets };
}

// wrong says what is missing or malformed, by field.
export function wrong(kind: Kind, values: Record<string, string>): Record<string, string> {
  const out: Record<string, string> = {};
  for (const field of kind.fields) {
    const value = values[field.name]?.trim() ?? "";
    if (field.required && !value) {
      out[field.name] = `Enter ${field.label.toLowerCase()}.`;
    }
  }
  const config = values.config?.trim();
  if (kind.type === "cluster" && config) {
    try {
      JSON.parse(config);
    } catch {
      out.config = "Invalid JSON. Enter it as in the hint, or take it from a kubeconfig.";
    }
  }
  return out;
}
