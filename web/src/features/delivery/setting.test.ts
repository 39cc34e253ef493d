import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  auth,
  type Kind,
  certificates,
  clusters,
  divide,
  keys,
  knownHosts,
  nameOf,
  repositories,
  shownFields,
  templates,
  withoutEffect,
  wrong,
} from "./setting";

// What server, agent and command line take open or sealed; api/agentapi holds the file to their list.
const taken = JSON.parse(
  readFileSync(new URL("../../../../api/agentapi/testdata/setting-fields.json", import.meta.url), "utf8"),
) as Record<string, { open: string[] | null; secret: string[] | null; idle?: string[]; own?: string[] }>;
const kinds = [repositories, templates, clusters, certificates, knownHosts, keys];

// forms are the inputs of every form that a kind has: by type, way to sign in, and what makes more fields appear.
function forms(kind: Kind): Record<string, string>[] {
  const given = Object.fromEntries(kind.fields.map((f) => [f.name, "x"]));
  const methods = kind.fields.find((f) => f.name === auth)?.choices?.map(([value]) => value) ?? [""];
  return ["git", "helm", "oci"].flatMap((type) =>
    ["true", "false"].flatMap((enableOCI) => methods.map((way) => ({ ...given, type, enableOCI, [auth]: way }))),
  );
}

// sent is everything that the forms of a kind send.
function sent(kind: Kind, beside: boolean) {
  const parts = forms(kind).map((values) => divide(kind, values, beside));
  const names = (of: "fields" | "secrets") => [...new Set(parts.flatMap((part) => Object.keys(part[of])))].sort();
  return { open: names("fields"), secret: names("secrets") };
}

// What forms leave out: other names of what they have, and parts of what they take as a whole.
const left: Record<string, string[]> = {
  repository: ["insecureIgnoreHostKey"],
  repocreds: ["insecureIgnoreHostKey", "name"],
  knownhost: ["serverName", "certSubType", "certData"],
};

describe("the fields of forms", () => {
  for (const kind of kinds) {
    for (const beside of [false, true]) {
      it(`of a ${kind.called} are all that ${beside ? "an Argo CD" : "the engine"} uses, sealed as the agent takes them`, () => {
        const without = [
          ...(kind.idle ?? []),
          ...(left[kind.type] ?? []),
          ...(beside ? (taken[kind.type]?.own ?? []) : []),
        ];
        const wanted = (list?: string[] | null) => (list ?? []).filter((name) => !without.includes(name)).sort();
        expect(sent(kind, beside)).toEqual({
          open: wanted(taken[kind.type]?.open),
          secret: wanted(taken[kind.type]?.secret),
        });
      });
    }
  }
});

describe("nameOf", () => {
  it("makes a name that a Secret can have", () => {
    expect(nameOf(repositories, { url: "https://git.example.org/Team/Shop.git" })).toBe(
      "repository-git-example-org-team-shop",
    );
    expect(nameOf(repositories, { url: "git@git.example.org:shop.git" })).toBe("repository-git-example-org-shop");
    expect(nameOf(repositories, { url: "" })).toBe("");
    expect(nameOf(repositories, { url: `https://h/${"a".repeat(100)}` }).length).toBeLessThanOrEqual(71);
  });
  it("takes the host of a certificate and the id of a key as they are", () => {
    expect(nameOf(certificates, { serverName: "git.example.org" })).toBe("git.example.org");
    expect(nameOf(keys, { keyID: "4AEE18F83AFDEB23" })).toBe("4AEE18F83AFDEB23");
  });
});

describe("divide", () => {
  it("tells no secret, and only what is on the form", () => {
    const values = {
      url: "https://h/r.git",
      type: "git",
      [auth]: "password",
      username: "bot",
      password: "p",
      sshPrivateKey: "old",
    };
    expect(divide(repositories, values)).toEqual({
      fields: { url: "https://h/r.git", type: "git" },
      secrets: { username: "bot", password: "p" },
    });
  });
  it("leaves secrets that were not written as they are", () => {
    expect(divide(repositories, { url: "u", [auth]: "password", password: "" }).secrets).toEqual({});
  });
  it("ends keys with a line end, as OpenSSH wants", () => {
    expect(divide(repositories, { url: "u", [auth]: "ssh", sshPrivateKey: "-----KEY" }).secrets.sshPrivateKey).toBe(
      "-----KEY\n",
    );
  });
});

describe("wrong", () => {
  it("names what is missing", () => {
    expect(wrong(repositories, {})).toEqual({ url: "Enter address." });
  });
  it("finds credentials that are no JSON", () => {
    expect(wrong(clusters, { name: "edge", server: "https://h", config: "token" })).toHaveProperty("config");
    expect(wrong(clusters, { name: "edge", server: "https://h", config: '{"bearerToken":"x"}' })).toEqual({});
  });
});

describe("what has no effect at Slipway's own engine", () => {
  for (const kind of kinds) {
    it(`is known of a ${kind.called}, as the agent refuses it`, () => {
      expect(kind.idle ?? []).toEqual(taken[kind.type]?.idle ?? []);
    });
  }
  it("is named where an Argo CD has left it", () => {
    const kept = { url: "u", type: "helm", webhookManifestCacheWarmDisabled: "true" };
    expect(withoutEffect(kept, repositories, false)).toEqual(["webhookManifestCacheWarmDisabled"]);
    expect(withoutEffect({ ...kept, webhookManifestCacheWarmDisabled: "false" }, repositories, false)).toEqual([]);
    expect(withoutEffect(kept, repositories, true)).toEqual([]);
  });
});

describe("ways to sign in", () => {
  const ways = (values: Record<string, string>, beside: boolean) =>
    shownFields(repositories, values, beside)
      .find((f) => f.name === auth)
      ?.choices?.map(([value]) => value);
  it("are those that the type of the repository has", () => {
    expect(ways({ type: "git" }, false)).toEqual(expect.arrayContaining(["ssh", "app", "google", "azure", "workload"]));
    expect(ways({ type: "helm" }, false)).toEqual(["none", "password", "bearer", "tls"]);
    const registry = ["none", "password", "bearer", "docker", "cloud", "workload", "tls"];
    expect(ways({ type: "oci" }, false)).toEqual(registry);
    expect(ways({ type: "helm", enableOCI: "true" }, false)).toEqual(registry);
  });
  it("are those that an Argo CD knows, where one works beside the agent", () => {
    expect(ways({ type: "oci" }, true)).toEqual(["none", "password", "bearer", "workload", "tls"]);
  });
  it("keep the one that was chosen", () => {
    expect(ways({ type: "helm", [auth]: "ssh" }, false)).toContain("ssh");
  });
});
