import { readFileSync } from "node:fs";
import { request } from "node:https";
import { parse } from "yaml";
import { stack } from "./stack";

interface Kubeconfig {
  clusters: { cluster: { server: string; "certificate-authority-data": string } }[];
  users: { user: { "client-certificate-data": string; "client-key-data": string } }[];
}

function credentials() {
  const config = parse(readFileSync(stack().kubeconfig, "utf8")) as Kubeconfig;
  const [cluster, user] = [config.clusters[0]?.cluster, config.users[0]?.user];
  if (!cluster || !user) {
    throw new Error("the kubeconfig of the stack names no cluster or no user");
  }
  const decode = (text: string) => Buffer.from(text, "base64");
  return {
    server: cluster.server,
    ca: decode(cluster["certificate-authority-data"]),
    cert: decode(user["client-certificate-data"]),
    key: decode(user["client-key-data"]),
  };
}

// kube asks the cluster's API server, past Slipway: kube("PATCH", "/api/v1/namespaces/web/configmaps/web", {…}).
export async function kube<T>(method: string, path: string, body?: unknown, type?: string): Promise<T> {
  const { server, ...tls } = credentials();
  const headers = {
    "Content-Type": type ?? (method === "PATCH" ? "application/merge-patch+json" : "application/json"),
  };
  return new Promise((resolve, reject) => {
    const sent = request(new URL(path, server), { method, headers, ...tls, agent: false }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (part: string) => (text += part));
      response.on("error", reject);
      response.on("end", () => {
        if ((response.statusCode ?? 500) >= 300) {
          reject(new Error(`${method} ${path}: ${response.statusCode} ${text}`));
          return;
        }
        resolve(JSON.parse(text) as T);
      });
    });
    sent.on("error", reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string };
}

interface Kinds {
  resources: { name: string; kind: string; namespaced: boolean }[];
}

// place is where the cluster's API has an object.
async function place(object: Manifest): Promise<string> {
  const base = `${object.apiVersion.includes("/") ? "/apis" : "/api"}/${object.apiVersion}`;
  const { resources } = await kube<Kinds>("GET", base);
  const kind = resources.find((r) => r.kind === object.kind && !r.name.includes("/"));
  if (!kind) {
    throw new Error(`the cluster knows no ${object.kind} of ${object.apiVersion}`);
  }
  const within = kind.namespaced ? `/namespaces/${object.metadata.namespace}` : "";
  return `${base}${within}/${kind.name}/${object.metadata.name}`;
}

// apply puts an object into the cluster as kubectl would, and gives what the cluster made of it.
export async function apply<T extends Manifest>(object: T): Promise<T> {
  const path = `${await place(object)}?fieldManager=e2e&force=true`;
  return kube<T>("PATCH", path, object, "application/apply-patch+yaml");
}

// remove takes an object out of the cluster.
export async function remove(object: Manifest): Promise<void> {
  await kube("DELETE", await place(object));
}
