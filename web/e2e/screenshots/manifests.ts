// Manifests of what the pictures show: an ordinary web shop.

const labels = (name: string) => `labels: { app: ${name} }`;

// deployment has pods that come and stay, unless more says otherwise; template is of its pods.
const deployment = (name: string, image: string, replicas: number, more = "", template = "") => `apiVersion: apps/v1
kind: Deployment
metadata:
  name: ${name}
  ${labels(name)}
spec:
  replicas: ${replicas}
  ${more}
  selector:
    matchLabels: { app: ${name} }
  template:
    metadata:
      ${labels(name)}
    spec:
      ${template}
      containers:
        - name: ${name}
          image: ${image}
          ports: [{ name: http, containerPort: 8080 }]
          resources:
            requests: { cpu: 100m, memory: 128Mi }
`;

const service = (name: string) => `---
apiVersion: v1
kind: Service
metadata:
  name: ${name}
spec:
  selector: { app: ${name} }
  ports: [{ name: http, port: 80, targetPort: http }]
`;

const said = (name: string) =>
  ["listening on :8080", "connected to the database in 12 ms", "GET /basket 200 in 4 ms", "POST /order 201 in 31 ms"]
    .map((line) => `${name}: ${line}`)
    .join("\\n");

// shop is a web application with a worker, a route and its settings.
export const shop = (name: string, version: string, replicas: number): string =>
  `${deployment(name, `registry.example.org/shop/${name}:${version}`, replicas).replace(
    `    metadata:\n      ${labels(name)}`,
    `    metadata:\n      ${labels(name)}\n      annotations: { devcluster/log: "${said(name)}" }`,
  )}---
${deployment(`${name}-worker`, `registry.example.org/shop/worker:${version}`, 2)}${service(name)}---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: ${name}
spec:
  rules:
    - host: ${name}.example.org
      http:
        paths:
          - path: /
            pathType: Prefix
            backend: { service: { name: ${name}, port: { name: http } } }
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: ${name}
data:
  basket-limit: "${version === "1.5.0" ? 50 : 100}"
  log-level: info
---
apiVersion: batch/v1
kind: CronJob
metadata:
  name: ${name}-cleanup
spec:
  schedule: "0 3 * * *"
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: Never
          containers: [{ name: cleanup, image: "registry.example.org/shop/worker:${version}" }]
`;

// waiting is an application whose second wave is never ready: its pods find no node, or have no image.
export const waiting = (name: string, how: "pending" | "broken"): string => `apiVersion: batch/v1
kind: Job
metadata:
  name: ${name}-migrate
  annotations:
    argocd.argoproj.io/hook: PreSync
    argocd.argoproj.io/hook-delete-policy: BeforeHookCreation
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{ name: migrate, image: registry.example.org/shop/migrate:2.0.0 }]
---
${deployment(`${name}-store`, "registry.example.org/shop/store:2.0.0", 1)}${service(`${name}-store`)}---
${deployment(
  name,
  `registry.example.org/shop/${name}:2.0.0`,
  2,
  how === "broken" ? "progressDeadlineSeconds: 5" : "progressDeadlineSeconds: 3600",
  how === "pending" ? "nodeSelector: { disk: fast }" : "",
)
  .replace(`  ${labels(name)}\nspec:`, `  ${labels(name)}\n  annotations: { argocd.argoproj.io/sync-wave: "1" }\nspec:`)
  .replace(
    `      ${labels(name)}`,
    how === "broken" ? `      labels: { app: ${name}, devcluster/outcome: unready }` : `      ${labels(name)}`,
  )}${service(name).replace("  name:", '  annotations: { argocd.argoproj.io/sync-wave: "2" }\n  name:')}`;

// chart is one of many objects that go at once.
export const chart = (name: string): string => `apiVersion: v1
kind: ConfigMap
metadata:
  name: ${name}
data:
  currency: EUR
`;
