import { hsalsa, xsalsa20poly1305 } from "@noble/ciphers/salsa.js";
import { x25519 } from "@noble/curves/ed25519.js";
import { blake2b } from "@noble/hashes/blake2.js";
import { InputError } from "./input";

// Secrets are sealed here, for one agent and one setting, so that the server relays what it cannot read: an anonymous NaCl
// box (crypto_box_seal), as internal/seal of the server's repository. It is not made with the browser's own cryptography,
// which pages that are served without HTTPS do not have.

// Purpose is what a secret is sealed for: it is inside of the seal, and the agent compares it with the request. So no one can
// use the text for something else, for another person, or much later.
export interface Purpose {
  // agent is its uid, not its id.
  agent: string;
  verb: "settings.apply" | "settings.test";
  type: "repository" | "repocreds" | "cluster" | "certificate" | "knownhost" | "gpgkey";
  // name of the setting, the same as in the request.
  name: string;
  // project is the Argo project of the setting as it is to be; empty for all.
  project: string;
  // actor is the signed-in user: type and id.
  actor: string;
  // open are the fields of the request that are not sealed.
  open: Record<string, string>;
}

const version = 2;

const sorted = (fields: Record<string, string>) =>
  Object.fromEntries(Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1)));

const largest = 1 << 20;
const overhead = 48;
const words = new Uint32Array(new TextEncoder().encode("expand 32-byte k").buffer);

// sealFields seals the secret fields of a setting to an agent's sealKey. The text belongs into "sealed" of a request.
export function sealFields(
  sealKey: string | undefined,
  fields: Record<string, string>,
  purpose: Purpose,
  now = new Date(),
  once: Uint8Array = x25519.utils.randomSecretKey(),
): string {
  if (!purpose.agent || !purpose.name || !purpose.actor) {
    throw new InputError("A secret is sealed for one agent and one name, by one user. All three are required.");
  }
  const to = publicKey(sealKey);
  const { agent, verb, type, name, project, actor } = purpose;
  const at = now.toISOString().replace(/\.\d+Z$/, "Z");
  const letter = JSON.stringify({
    version,
    agent,
    verb,
    type,
    name,
    project,
    actor,
    at,
    open: sorted(purpose.open),
    fields: sorted(fields),
  });
  // What is half of a character would be another one in the cluster.
  for (const [field, value] of Object.entries(fields)) {
    if (/\p{Surrogate}/u.test(value)) {
      throw new InputError(`The field ${field} is not text. Enter keys and certificates as PEM.`);
    }
  }
  const inside = new TextEncoder().encode(letter);
  if (inside.length + overhead > largest) {
    throw new InputError(`The secret has more than ${largest >> 10} KiB.`);
  }
  const from = x25519.getPublicKey(once);
  const nonce = blake2b(join(from, to), { dkLen: 24 });
  const key = new Uint32Array(8);
  hsalsa(words, numbers(x25519.getSharedSecret(once, to)), new Uint32Array(4), key);
  const box = xsalsa20poly1305(new Uint8Array(key.buffer), nonce).encrypt(inside);
  return base64(join(from, box));
}

function publicKey(text: string | undefined): Uint8Array {
  if (!text) {
    throw new InputError("The agent has no key for secrets yet. It creates one when it first connects.");
  }
  let key = new Uint8Array();
  try {
    key = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  } catch {
    // checked below
  }
  if (key.length !== 32 || key.every((b) => b === 0)) {
    throw new InputError("The server sent an invalid agent key. Reload the page, or check the agent.");
  }
  return key;
}

// trusts is true where the key of an agent is the one that this browser sealed to before; the first is taken as it is. A
// server that was broken into could hand out its own: a key that changed is accepted by a person only.
export function trusts(agentUID: string, sealKey: string, accept = false): boolean {
  const place = `slipway.seal.${agentUID}`;
  const had = localStorage.getItem(place);
  if (had !== null && had !== sealKey && !accept) {
    return false;
  }
  localStorage.setItem(place, sealKey);
  return true;
}

const numbers = (bytes: Uint8Array) => new Uint32Array(bytes.slice().buffer);

function join(a: Uint8Array, b: Uint8Array): Uint8Array {
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}

function base64(bytes: Uint8Array): string {
  let text = "";
  for (let i = 0; i < bytes.length; i += 0x8000) {
    text += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
  }
  return btoa(text);
}
