import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  auth,
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
) as Record<string, { open: string[] | null; secret: string[] | null }>;

describe("the fields of forms", () => {
  for (const kind of [repositories, templates, clusters, certificates, knownHosts, keys]) {
    it(`of a ${kind.called} are sealed or not, as the agent takes them`, () => {
      const given = Object.fromEntries(kind.fields.map((f) => [f.name, "x"]));
      const all = { fields: {} as Record<string, string>, secrets: {} as Record<string, string> };
      for (const method of ["", "password", "bearer", "ssh", "app", "tls"]) {
        const part = divide(kind, { ...given, type: "git", [auth]: method }, true);
        Object.assign(all.fields, part.fields);
        Object.assign(all.secrets, part.secrets);
      }
      expect(taken[kind.type]?.open ?? []).toEqual(expect.arrayContaining(Object.keys(all.fields)));
      expect(taken[kind.type]?.secret ?? []).toEqual(expect.arrayContaining(Object.keys(all.secrets)));
    });
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
  const offered = (kind: typeof repositories, values: Record<string, string>, beside: boolean) =>
    shownFields(kind, values, beside).flatMap((f) => f.choices?.map(([value]) => `${f.name}=${value}`) ?? [f.name]);
  const idle = ["_auth=app", "enableLfs"];
  it("is offered where an Argo CD uses it", () => {
    const all = [...offered(repositories, {}, true), ...offered(clusters, {}, true)];
    expect(all).toEqual(expect.arrayContaining(idle));
  });
  it("is offered to no other agent", () => {
    const all = [repositories, templates, clusters].flatMap((kind) =>
      offered(kind, { [auth]: "app", namespaces: "a" }, false),
    );
    expect(all.filter((f) => idle.includes(f) && f !== "_auth=app")).toEqual([]);
    expect(offered(repositories, {}, false)).not.toContain("_auth=app");
    expect(all.filter((f) => /githubApp/.test(f))).toEqual([]);
  });
  it("is kept, and not sent, where an Argo CD has left it", () => {
    expect(offered(repositories, { type: "helm" }, false)).toContain("type=helm");
    expect(divide(clusters, { name: "edge", namespaces: "shop" }).fields).toEqual({ name: "edge", namespaces: "shop" });
    const left = { url: "u", type: "helm", enableLfs: "false", githubAppID: "7" };
    expect(withoutEffect(left, repositories, false)).toEqual(["githubAppID"]);
    expect(withoutEffect(left, repositories, true)).toEqual([]);
  });
});
