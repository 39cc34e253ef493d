{{- define "blog.labels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
{{- end -}}
