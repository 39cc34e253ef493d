package sidecar_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/render"
	"github.com/slipway-gitops/slipway/internal/engine/render/document"
	"github.com/slipway-gitops/slipway/internal/engine/render/memo"
	"github.com/slipway-gitops/slipway/internal/engine/render/plain"
	"github.com/slipway-gitops/slipway/internal/engine/render/sidecar"
	"github.com/slipway-gitops/slipway/internal/source/dirtree"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// raw passes messages on as they are on the wire.
type raw struct{}

func (raw) Marshal(v any) ([]byte, error)      { return v.([]byte), nil }
func (raw) Unmarshal(data []byte, v any) error { *v.(*[]byte) = bytes.Clone(data); return nil }
func (raw) Name() string                       { return "proto" }

// plugin is a stand-in for argocd-cmp-server.
type plugin struct {
	discovers bool
	knows     string        // a file that it looks for
	hangs     chan struct{} // what its discovery waits for; nil for nothing
	make      func(got received) ([]string, error)

	mu    sync.Mutex
	calls []string
}

// received is what a plugin was sent.
type received struct {
	app, path string
	env       map[string]string
	files     map[string]string
}

func (p *plugin) note(call string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls = append(p.calls, call)
}

// fields reads a message.
func fields(data []byte, each func(number protowire.Number, num uint64, raw []byte)) {
	for len(data) > 0 {
		number, kind, n := protowire.ConsumeTag(data)
		data = data[n:]
		if kind == protowire.VarintType {
			num, n := protowire.ConsumeVarint(data)
			each(number, num, nil)
			data = data[n:]
			continue
		}
		text, n := protowire.ConsumeBytes(data)
		each(number, 0, text)
		data = data[n:]
	}
}

// receive reads the stream of a repository.
func receive(stream grpc.ServerStream) (received, error) {
	out := received{env: map[string]string{}, files: map[string]string{}}
	var archive bytes.Buffer
	checksum, size := "", uint64(0)
	for {
		var message []byte
		err := stream.RecvMsg(&message)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return out, err
		}
		fields(message, func(number protowire.Number, _ uint64, inner []byte) {
			if number == 2 {
				fields(inner, func(_ protowire.Number, _ uint64, chunk []byte) { archive.Write(chunk) })
				return
			}
			fields(inner, func(number protowire.Number, num uint64, text []byte) {
				switch number {
				case 1:
					out.app = string(text)
				case 2:
					out.path = string(text)
				case 3:
					checksum = string(text)
				case 4:
					size = num
				case 5:
					var pair [3]string
					fields(text, func(n protowire.Number, _ uint64, v []byte) { pair[n] = string(v) })
					out.env[pair[1]] = pair[2]
				}
			})
		})
	}
	if sum := sha256.Sum256(archive.Bytes()); hex.EncodeToString(sum[:]) != checksum || size != uint64(archive.Len()) {
		return out, status.Error(codes.Unknown, "file checksum validation error")
	}
	zip, err := gzip.NewReader(&archive)
	if err != nil {
		return out, err
	}
	in := tar.NewReader(zip)
	for {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		content, err := io.ReadAll(in)
		if err != nil {
			return out, err
		}
		if header.Typeflag == tar.TypeReg {
			out.files[header.Name] = string(content)
		}
	}
}

// serve lets a plugin listen in dir.
func (p *plugin) serve(t *testing.T, dir, name string) {
	t.Helper()
	server := grpc.NewServer(grpc.ForceServerCodec(raw{}))
	flag := func(set bool) []byte {
		return protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), protowire.EncodeBool(set))
	}
	stream := func(method string, answer func(received) ([]byte, error)) grpc.StreamDesc {
		return grpc.StreamDesc{StreamName: method, ClientStreams: true, Handler: func(_ any, s grpc.ServerStream) error {
			p.note(method)
			got, err := receive(s)
			if err != nil {
				return err
			}
			out, err := answer(got)
			if err != nil {
				return err
			}
			return s.SendMsg(out)
		}}
	}
	server.RegisterService(&grpc.ServiceDesc{
		ServiceName: "plugin.ConfigManagementPluginService",
		HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{{
			MethodName: "CheckPluginConfiguration",
			Handler: func(_ any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
				var in []byte
				p.note("CheckPluginConfiguration")
				return flag(p.discovers), decode(&in)
			},
		}},
		Streams: []grpc.StreamDesc{
			stream("MatchRepository", func(got received) ([]byte, error) {
				if p.hangs != nil {
					<-p.hangs
				}
				_, known := got.files[p.knows]
				return flag(known), nil
			}),
			stream("GenerateManifest", func(got received) ([]byte, error) {
				list, err := p.make(got)
				var out []byte
				for _, m := range list {
					out = protowire.AppendString(protowire.AppendTag(out, 1, protowire.BytesType), m)
				}
				return protowire.AppendString(protowire.AppendTag(out, 2, protowire.BytesType), "later field"), err
			}),
		},
	}, nil)
	listener, err := net.Listen("unix", filepath.Join(dir, name+".sock"))
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { defer close(done); _ = server.Serve(listener) }()
	t.Cleanup(func() { server.Stop(); <-done })
}

// echo makes a ConfigMap of what it got.
func echo(got received) ([]string, error) {
	return []string{fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: made}\ndata: {path: %q, env: %q, map: %q, file: %q}\n",
		got.path, got.env["ARGOCD_ENV_GREETING"], got.env["PARAM_IMAGE_TAG"], got.files["app/input.txt"])}, nil
}

// sockets is a directory whose name is short enough for sockets.
func sockets(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "cmp") //nolint:usetesting // the name of a test would make the path too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// request asks for the source app of a repository with files.
func request(t *testing.T, files map[string]string, plugin *v1alpha1.PluginSource) render.Request {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		full := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tree, err := dirtree.Open(root, "0123456789abcdef")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tree.Close() })
	return render.Request{
		App: render.App{Name: "shop", Namespace: "argocd", Project: "team"}, Namespace: "web", Tree: tree,
		Source: v1alpha1.ApplicationSource{RepoURL: "https://git.example.org/shop", Path: "app", Plugin: plugin},
	}
}

func pipeline(r *sidecar.Renderer) *render.Pipeline {
	return &render.Pipeline{Plain: plain.Renderer{}, Plugins: r}
}

func TestANamedPluginRendersTheRepository(t *testing.T) {
	t.Parallel()
	dir := sockets(t)
	p := &plugin{make: echo}
	p.serve(t, dir, "mine-v1.0")
	tag := "v7"
	req := request(t, map[string]string{"app/input.txt": "hello", "shared/base.txt": "base"}, &v1alpha1.PluginSource{
		Name: "mine-v1.0", Env: []v1alpha1.EnvEntry{{Name: "GREETING", Value: "hi $ARGOCD_APP_NAME at $ARGOCD_APP_REVISION_SHORT"}},
		Parameters: []v1alpha1.PluginParameter{{Name: "image.tag", String: &tag}},
	})
	res, err := pipeline(&sidecar.Renderer{Dir: dir}).Render(t.Context(), req)
	if err != nil || len(res.Objects) != 1 || res.Tool != render.Plugin || !res.Deps.Revision || !res.Deps.Cluster {
		t.Fatalf("%+v, %v", res, err)
	}
	for _, want := range []string{`"path":"app"`, `"env":"hi shop at 0123456"`, `"map":"v7"`, `"file":"hello"`} {
		if !strings.Contains(string(res.Objects[0].JSON), want) {
			t.Errorf("no %s in %s", want, res.Objects[0].JSON)
		}
	}
}

func TestAPluginGetsEveryVariableAndFile(t *testing.T) {
	t.Parallel()
	dir := sockets(t)
	var got received
	p := &plugin{make: func(r received) ([]string, error) { got = r; return nil, nil }}
	p.serve(t, dir, "mine")
	word := "one"
	req := request(t, map[string]string{"app/a.txt": "a", "b/c/d.txt": "d", "big/skip.bin": "x"}, &v1alpha1.PluginSource{Name: "mine", Parameters: []v1alpha1.PluginParameter{
		{Name: "word", String: &word}, {Name: "list", Array: []string{"x", "y"}}, {Name: "table", Map: map[string]string{"a-b": "c"}},
	}})
	req.Cluster.KubeVersion = "v1.36.1"
	r := &sidecar.Renderer{Dir: dir, Exclude: func() []string { return []string{"big", "[bad"} }}
	if _, err := pipeline(r).Render(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"ARGOCD_APP_NAME": "shop", "ARGOCD_APP_NAMESPACE": "web", "ARGOCD_APP_PROJECT_NAME": "team", "ARGOCD_APP_REVISION": "0123456789abcdef",
		"ARGOCD_APP_REVISION_SHORT_8": "01234567", "ARGOCD_APP_SOURCE_PATH": "app", "ARGOCD_APP_SOURCE_REPO_URL": "https://git.example.org/shop",
		"KUBE_VERSION": "1.36.1", "PARAM_WORD": "one", "PARAM_LIST_0": "x", "PARAM_LIST_1": "y", "PARAM_TABLE_A_B": "c",
		"ARGOCD_APP_PARAMETERS": `[{"name":"word","string":"one"},{"name":"list","array":["x","y"]},{"name":"table","map":{"a-b":"c"}}]`,
	} {
		if got.env[name] != want {
			t.Errorf("%s is %q, want %q", name, got.env[name], want)
		}
	}
	if len(got.files) != 2 || got.files["app/a.txt"] != "a" || got.files["b/c/d.txt"] != "d" || got.app != "shop" {
		t.Errorf("got %+v", got)
	}
}

func TestWithoutANameThePluginThatKnowsTheFilesRenders(t *testing.T) {
	t.Parallel()
	dir := sockets(t)
	silent := &plugin{make: echo}
	other := &plugin{discovers: true, knows: "none", make: echo}
	right := &plugin{discovers: true, knows: "app/input.txt", make: echo}
	silent.serve(t, dir, "a-silent")
	other.serve(t, dir, "b-other")
	right.serve(t, dir, "c-right")
	for _, block := range []*v1alpha1.PluginSource{{}, nil} {
		res, err := pipeline(&sidecar.Renderer{Dir: dir}).Render(t.Context(), request(t, map[string]string{"app/input.txt": "hello"}, block))
		if err != nil || len(res.Objects) != 1 || res.Tool != render.Plugin {
			t.Errorf("%v: %+v, %v", block, res, err)
		}
	}
	if len(silent.calls) != 3 || len(right.calls) == 0 {
		t.Errorf("calls: %v, %v", silent.calls, right.calls)
	}
	res, err := pipeline(&sidecar.Renderer{Dir: dir}).Render(t.Context(), request(t, map[string]string{
		"app/map.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: plain}\n",
	}, nil))
	if err != nil || res.Tool != render.Directory || len(res.Objects) != 1 {
		t.Errorf("files that no plugin knows: %+v, %v", res, err)
	}
}

func TestFailuresSayWhatToDo(t *testing.T) {
	t.Parallel()
	dir := sockets(t)
	(&plugin{make: func(received) ([]string, error) {
		return nil, status.Error(codes.Unknown, "`tool` failed exit status 3: no such value, password=hunter2-secret")
	}}).serve(t, dir, "fails")
	(&plugin{make: func(received) ([]string, error) { return []string{strings.Repeat("x", 65<<20)}, nil }}).serve(t, dir, "floods")
	(&plugin{make: func(received) ([]string, error) { return []string{"kind: ["}, nil }}).serve(t, dir, "garbles")
	(&plugin{discovers: true, knows: "none"}).serve(t, dir, "picky")
	block := make(chan struct{})
	t.Cleanup(func() { close(block) })
	(&plugin{make: func(received) ([]string, error) { <-block; return nil, nil }}).serve(t, dir, "hangs")
	gone, err := net.Listen("unix", filepath.Join(dir, "gone.sock"))
	if err != nil {
		t.Fatal(err)
	}
	gone.(*net.UnixListener).SetUnlinkOnClose(false)
	_ = gone.Close()
	for _, tt := range []struct {
		name string
		is   error
		text string
	}{
		{"fails", nil, "no such value"},
		{"floods", document.ErrLimit, "sent too much"},
		{"garbles", nil, "manifest 1 of plugin garbles"},
		{"picky", nil, "does not know the files"},
		{"hangs", render.ErrTimeout, "1 s"},
		{"gone", render.ErrUnavailable, "log of its container"},
		{"missing", render.ErrNoPlugin, "missing.sock"},
		{"../fails", render.ErrNoPlugin, "no name of a plugin"},
	} {
		req := request(t, map[string]string{"app/input.txt": "hello"}, &v1alpha1.PluginSource{Name: tt.name})
		req.Limits.Seconds = 20
		if tt.name == "hangs" {
			req.Limits.Seconds = 1
		}
		_, err := pipeline(&sidecar.Renderer{Dir: dir}).Render(t.Context(), req)
		if err == nil || tt.is != nil && !errors.Is(err, tt.is) || !strings.Contains(err.Error(), tt.text) {
			t.Errorf("%s: %v", tt.name, err)
		}
		if strings.Contains(fmt.Sprint(err), "hunter2") {
			t.Errorf("%s: the error shows a secret: %v", tt.name, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := pipeline(&sidecar.Renderer{Dir: dir}).Render(ctx, request(t, map[string]string{"app/a": "b"}, &v1alpha1.PluginSource{Name: "hangs"})); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled rendering: %v", err)
	}
}

func TestAPluginThatHangsInItsDiscoveryIsGivenUp(t *testing.T) {
	t.Parallel()
	dir := sockets(t)
	never := make(chan struct{})
	t.Cleanup(func() { close(never) })
	(&plugin{discovers: true, hangs: never, make: echo}).serve(t, dir, "hangs")
	r := &sidecar.Renderer{Dir: dir}
	for name, ask := range map[string]func(render.Request) error{
		"claim":    func(req render.Request) error { _, err := r.Claims(t.Context(), req); return err },
		"announce": func(req render.Request) error { _, err := r.Announce(t.Context(), req); return err },
		"render":   func(req render.Request) error { _, err := r.Render(t.Context(), req); return err },
		"pipeline": func(req render.Request) error { _, err := pipeline(r).Render(t.Context(), req); return err },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			req := request(t, map[string]string{"app/input.txt": "hello"}, nil)
			req.Limits.Seconds = 1
			if err := ask(req); !errors.Is(err, render.ErrTimeout) || !strings.Contains(err.Error(), "given 1 s") {
				t.Errorf("%v", err)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Claims(ctx, request(t, map[string]string{"app/a": "b"}, nil)); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled claim: %v", err)
	}
}

func TestAResultIsRememberedUntilSomethingOfTheRepositoryChanges(t *testing.T) {
	t.Parallel()
	dir := sockets(t)
	p := &plugin{make: echo}
	p.serve(t, dir, "mine")
	m := memo.New(pipeline(&sidecar.Renderer{Dir: dir}), memo.Options{})
	named := &v1alpha1.PluginSource{Name: "mine"}
	first := request(t, map[string]string{"app/input.txt": "hello", "shared/base.txt": "base"}, named)
	again, other := first, first
	other.Source.Plugin = &v1alpha1.PluginSource{Name: "mine", Env: []v1alpha1.EnvEntry{{Name: "GREETING", Value: "x"}}}
	for i, tt := range []struct {
		req  render.Request
		hit  bool
		what string
	}{
		{first, false, "the first"},
		{again, true, "the same"},
		{other, false, "another variable"},
		{request(t, map[string]string{"app/input.txt": "hello", "shared/base.txt": "changed"}, named), false, "another file outside of the path"},
	} {
		_, hit, err := m.Render(t.Context(), tt.req, "scope")
		if err != nil || hit != tt.hit {
			t.Errorf("%d, %s: hit %v, %v", i, tt.what, hit, err)
		}
	}
	m.Forget(first, "scope")
	if _, hit, err := m.Render(t.Context(), first, "scope"); hit || err != nil {
		t.Errorf("after it was forgotten: hit %v, %v", hit, err)
	}
}
