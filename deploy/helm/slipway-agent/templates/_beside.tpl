{{- /* The rights of an agent beside Argo CD: see internal/server/install/beside.go. */ -}}
{{- define "slipway-agent.beside" }}
{{- $labels := dict "app.kubernetes.io/name" "slipway-agent" "app.kubernetes.io/part-of" "slipway" -}}
{{- $cluster := printf "slipway-agent-%s" .Release.Namespace }}
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: slipway-agent
  namespace: {{ .Release.Namespace }}
  labels: {{- toYaml $labels | nindent 4 }}
rules:
  - apiGroups: [argoproj.io]
    resources: [applications, applicationsets, appprojects]
    verbs: [get, list, watch, create, update, patch, delete]
  # Repositories, clusters and their credentials, and the identity of the agent.
  - apiGroups: [""]
    resources: [secrets]
    verbs: [get, list, watch, create, update, delete]
  - apiGroups: [""]
    resources: [configmaps]
    resourceNames:
      - argocd-cm
      - argocd-cmd-params-cm
      - argocd-gpg-keys-cm
      - argocd-ssh-known-hosts-cm
      - argocd-tls-certs-cm
      - slipway-agent-journal
      - slipway-agent-policy
      - slipway-allowed-signers
      - slipway-artifact-keys
      - slipway-trust-stores
    verbs: [get, list, watch]
  - apiGroups: [""]
    resources: [configmaps]
    resourceNames: [argocd-gpg-keys-cm, argocd-ssh-known-hosts-cm, argocd-tls-certs-cm, slipway-agent-journal]
    verbs: [update]
  # Names cannot bound create.
  - apiGroups: [""]
    resources: [configmaps]
    verbs: [create]
  - apiGroups: [coordination.k8s.io]
    resources: [leases]
    resourceNames: [slipway-agent]
    verbs: [get, update]
  - apiGroups: [coordination.k8s.io]
    resources: [leases]
    verbs: [create]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: slipway-agent
  namespace: {{ .Release.Namespace }}
  labels: {{- toYaml $labels | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: slipway-agent
subjects:
  - kind: ServiceAccount
    name: slipway-agent
    namespace: {{ .Release.Namespace }}
---
{{- if .Values.namespaced }}
# What Applications have in the namespace; Secrets are not in it.
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: slipway-agent-view
  namespace: {{ .Release.Namespace }}
  labels: {{- toYaml $labels | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: view
subjects:
  - kind: ServiceAccount
    name: slipway-agent
    namespace: {{ .Release.Namespace }}
{{- else }}
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: {{ $cluster }}
  labels: {{- toYaml $labels | nindent 4 }}
rules:
  # Which kinds there are, to find owners; the uid of kube-system tells clusters apart.
  - apiGroups: [apiextensions.k8s.io]
    resources: [customresourcedefinitions]
    verbs: [get, list, watch]
  - apiGroups: [""]
    resources: [namespaces]
    resourceNames: [kube-system]
    verbs: [get]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: {{ $cluster }}
  labels: {{- toYaml $labels | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: {{ $cluster }}
subjects:
  - kind: ServiceAccount
    name: slipway-agent
    namespace: {{ .Release.Namespace }}
---
# What Applications have in this cluster; Secrets are not in it.
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: {{ $cluster }}-view
  labels: {{- toYaml $labels | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: view
subjects:
  - kind: ServiceAccount
    name: slipway-agent
    namespace: {{ .Release.Namespace }}
{{- end }}
{{- end }}
