package document

import (
	"errors"
	"fmt"
	"testing"

	yaml "go.yaml.in/yaml/v2"
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

// BenchmarkOneDocument compares our reader of plain block style with the YAML library, see docs/adr/0055-plain-yaml.md.
func BenchmarkOneDocument(b *testing.B) {
	part := service(1)
	for name, read := range map[string]func() (value, error){
		"ours": func() (value, error) {
			v, ok := quick(part)
			if !ok {
				return v, errors.New("it is not plain")
			}
			return v, nil
		},
		"library": func() (value, error) {
			var out any
			if err := yaml.Unmarshal(part, &out); err != nil {
				return value{}, err
			}
			return fromAny(out, 0)
		},
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(part)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := read(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
