// A Deployment of one container, with its labels in all the places that want them.
function(name, image, replicas=1) {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: name },
  spec: {
    replicas: replicas,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: name, image: image }] },
    },
  },
}
