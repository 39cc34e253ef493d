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
export function kube<T>(method: string, path: string, body?: unknown): Promise<T> {
  const { server, ...tls } = credentials();
  const headers = { "Content-Type": method === "PATCH" ? "application/merge-patch+json" : "application/json" };
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
