import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type Purpose, sealFields } from "./seal";

// Made by internal/seal, which opens it in its own tests.
const vector = JSON.parse(
  readFileSync(new URL("../../../internal/seal/testdata/vector.json", import.meta.url), "utf8"),
) as { publicKey: string; once: string; fields: Record<string, string>; sealed: string; at: string } & Purpose;
const once = Uint8Array.from(atob(vector.once), (c) => c.charCodeAt(0));
const { agent, verb, type, name, project, actor, open } = vector;
const purpose: Purpose = { agent, verb, type, name, project, actor, open };
const at = new Date(vector.at);

describe("sealFields", () => {
  it("seals as the server's own code does", () => {
    expect(sealFields(vector.publicKey, vector.fields, purpose, at, once)).toBe(vector.sealed);
  });

  it("is another text each time, of the same length", () => {
    const a = sealFields(vector.publicKey, vector.fields, purpose);
    const b = sealFields(vector.publicKey, vector.fields, purpose);
    expect(a).not.toBe(b);
    expect(a.length).toBe(vector.sealed.length);
  });

  it("refuses keys that are none", () => {
    for (const key of [undefined, "", "?", "AAAA", `${"A".repeat(43)}=`, "A".repeat(100)]) {
      expect(() => sealFields(key, {}, purpose), String(key)).toThrow(/key/);
    }
  });

  it("refuses what is no text, is for nobody, or is too much, and says no secret", () => {
    expect(() => sealFields(vector.publicKey, { password: "planted\ud800" }, purpose)).toThrow(
      "The field password is not text. Enter keys and certificates as PEM.",
    );
    expect(() => sealFields(vector.publicKey, {}, { ...purpose, agent: "" })).toThrow(/one agent/);
    expect(() => sealFields(vector.publicKey, {}, { ...purpose, actor: "" })).toThrow(/one user/);
    expect(() => sealFields(vector.publicKey, { a: "x".repeat(1 << 20) }, purpose)).toThrow(/1024 KiB/);
  });
});
