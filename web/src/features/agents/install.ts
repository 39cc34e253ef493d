// What somebody runs in a terminal to install an agent. The token is in a Secret beside the server's manifest, which never
// has one in it; all of it is one command, so that there is one thing to copy.

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

// helmCommand makes the namespace and the Secret first: a chart of ours never has a token in it.
export function helmCommand(values: string, token: string, namespace: string, make: boolean): string {
  return [
    ...(make ? [`kubectl create namespace ${namespace} --dry-run=client -o yaml | kubectl apply -f -`] : []),
    hereDocument("kubectl apply -f -", secretOf(token, namespace)).trimEnd(),
    hereDocument(
      `helm upgrade --install slipway-agent deploy/helm/slipway-agent --namespace ${namespace} -f -`,
      values,
    ),
  ].join("\n");
}
