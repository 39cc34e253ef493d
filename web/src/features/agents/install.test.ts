import { describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { helmCommand, hereDocument, kubectlCommand, noNetwork, secretOf, slipwayCommand } from "./install";

describe("kubectlCommand", () => {
  it("is one command with manifest and token", () => {
    const command = kubectlCommand("kind: Namespace\nmetadata:\n  name: argocd\n", 'tok"en', "argocd");
    const lines = command.split("\n");
    expect(lines[0]).toBe("kubectl apply -f - <<'EOF'");
    expect(lines.at(-2)).toBe("EOF");
    const documents = parseAllDocuments(lines.slice(1, -2).join("\n")).map((d) => d.toJS());
    expect(documents).toEqual([
      { kind: "Namespace", metadata: { name: "argocd" } },
      {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name: "slipway-agent-registration", namespace: "argocd" },
        stringData: { token: 'tok"en' },
      },
    ]);
  });
});

describe("hereDocument", () => {
  it("ends with a word that is not in the text", () => {
    expect(hereDocument("cat", "a\nEOF\nb")).toBe("cat <<'EOF_'\na\nEOF\nb\nEOF_\n");
  });
});

describe("helmCommand", () => {
  it("makes the namespace only where it is asked to", () => {
    expect(helmCommand("a: 1", "t", "edge", true)).toContain("create namespace edge");
    expect(helmCommand("a: 1", "t", "edge", false)).not.toContain("create namespace");
    expect(helmCommand("a: 1", "t", "edge", true)).toContain(secretOf("t", "edge").trimEnd());
  });

  it("keeps a namespace that came with a link one word of the shell", () => {
    const command = helmCommand("a: 1", "t", "edge; id", true);
    expect(command).toContain("create namespace 'edge; id' ");
    expect(command).toContain("--namespace 'edge; id' -f -");
  });
});

describe("slipwayCommand", () => {
  it("says what was chosen, and nothing of the rest", () => {
    expect(slipwayCommand("account.edge", "tok", "edge", noNetwork)).toBe(
      "SLIPWAY_REGISTRATION_TOKEN=tok slipway agent install account.edge --namespace edge --kubeconfig KUBECONFIG",
    );
  });

  it("keeps what is written one word of the shell", () => {
    const command = slipwayCommand("a", "t", "edge", {
      ...noNetwork,
      proxy: "http://proxy:3128",
      noProxy: "$(id) 'x'",
      ca: "PEM",
    });
    expect(command.split("\n")).toEqual([
      "cat > slipway-agent-ca.pem <<'EOF'",
      "PEM",
      "EOF",
      "SLIPWAY_REGISTRATION_TOKEN=t slipway agent install a --namespace edge --kubeconfig KUBECONFIG" +
        " --proxy http://proxy:3128 --no-proxy '$(id) '\\''x'\\''' --ca-file slipway-agent-ca.pem",
    ]);
  });
});
