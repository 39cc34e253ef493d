// The commands that install an agent. The token is in a Secret beside the server's manifest, which never
// has one in it; all of it is one command, so that there is one thing to copy.

// Network is what an agent needs where its cluster does not reach everything directly; "" for nothing.
export interface Network {
  registry: string;
  pullSecret: string;
  proxy: string;
  noProxy: string;
  // ca is PEM.
  ca: string;
  clientCertSecret: string;
}

export const noNetwork: Network = {
  registry: "",
  pullSecret: "",
  proxy: "",
  noProxy: "",
  ca: "",
  clientCertSecret: "",
};

const secretName = "slipway-agent-registration";

export function secretOf(token: string, namespace: string): string {
  return [
    "apiVersion: v1",
    "kind: Secret",
    "metadata:",
    `  name: ${secretName}`,
    `  namespace: ${namespace}`,
    "stringData:",
    `  token: ${JSON.stringify(token)}`,
    "",
  ].join("\n");
}

// hereDocument gives a command a text; the word that ends it is none of the text's lines.
export function hereDocument(command: string, text: string): string {
  let end = "EOF";
  const lines = new Set(text.split("\n"));
  while (lines.has(end)) {
    end += "_";
  }
  return `${command} <<'${end}'\n${text.replace(/\n*$/, "\n")}${end}\n`;
}

export function kubectlCommand(manifest: string, token: string, namespace: string): string {
  return hereDocument("kubectl apply -f -", `${manifest.trimEnd()}\n---\n${secretOf(token, namespace)}`);
}

// word is a text as one word of a shell.
const word = (text: string): string => (/^[\w./:,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

// helmCommand makes the namespace and the Secret first: a chart of ours never has a token in it.
export function helmCommand(values: string, token: string, namespace: string, make: boolean): string {
  return [
    ...(make ? [`kubectl create namespace ${word(namespace)} --dry-run=client -o yaml | kubectl apply -f -`] : []),
    hereDocument("kubectl apply -f -", secretOf(token, namespace)).trimEnd(),
    hereDocument(
      `helm upgrade --install slipway-agent deploy/helm/slipway-agent --namespace ${word(namespace)} -f -`,
      values,
    ),
  ].join("\n");
}

// slipwayCommand installs with the command line, which asks the server for the manifest itself. The token is in its
// environment, since others on the machine see arguments.
export function slipwayCommand(id: string, token: string, namespace: string, network: Network): string {
  const file = "slipway-agent-ca.pem";
  const flags: [string, string][] = [
    ["namespace", namespace],
    ["kubeconfig", "KUBECONFIG"],
    ["registry", network.registry],
    ["pull-secret", network.pullSecret],
    ["proxy", network.proxy],
    ["no-proxy", network.noProxy],
    ["ca-file", network.ca && file],
    ["client-cert-secret", network.clientCertSecret],
  ];
  const given = flags.filter(([, value]) => value).map(([flag, value]) => ` --${flag} ${word(value)}`);
  return [
    ...(network.ca ? [hereDocument(`cat > ${file}`, network.ca).trimEnd()] : []),
    `SLIPWAY_REGISTRATION_TOKEN=${word(token)} slipway agent install ${word(id)}${given.join("")}`,
  ].join("\n");
}
