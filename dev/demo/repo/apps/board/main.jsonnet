local deployment = import 'lib/deployment.libsonnet';

function(replicas='1') [
  deployment('board', 'registry.k8s.io/pause:3.10', std.parseInt(replicas)),
  {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'board' },
    data: { columns: std.join(',', ['to do', 'doing', 'done']) },
  },
]
