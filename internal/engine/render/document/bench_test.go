package document

import (
	"fmt"
	"testing"
)

// service is a manifest as people write them, of about 900 bytes.
func service(i int) []byte {
	return fmt.Appendf(nil, `# The web front end.
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web-%d
  namespace: shop
  labels:
    app.kubernetes.io/name: web
    app.kubernetes.io/version: "1.27"
  annotations:
    example.com/owner: 'team-%d'
spec:
  replicas: 2
  selector:
    matchLabels:
      app: web-%d
  template:
    metadata:
      labels:
        app: web-%d
    spec:
      containers:
      - name: web
        image: registry.example.com/web:1.27.%d
        args: ["--listen", ":8080"]
        ports:
        - containerPort: 8080
          name: http
        env:
        - name: LOG_LEVEL
          value: info
        resources:
          requests: {cpu: 10m, memory: 32Mi}
          limits:
            memory: 64Mi
        readinessProbe:
          httpGet:
            path: /healthz
            port: http
          periodSeconds: 5
`, i, i, i, i, i)
}

func BenchmarkReadOf2000Documents(b *testing.B) {
	files := make([][]byte, 2000)
	for i := range files {
		files[i] = service(i)
	}
	b.ReportAllocs()
	for b.Loop() {
		for i := 0; i < len(files); i += 10 {
			s := NewSet(1<<30, 1<<20)
			for _, f := range files[i : i+10] {
				if err := s.AddYAML("web.yaml", f); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
}
