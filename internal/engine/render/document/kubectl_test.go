package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	kubeyaml "k8s.io/apimachinery/pkg/util/yaml"
	"pgregory.net/rapid"
)

// kubectlReads returns the documents of a file as JSON, as kubectl reads them. Argo CD reads manifest files and the output
// of helm and kustomize with the same decoder.
func kubectlReads(file string) ([]string, error) {
	var out []string
	for d := kubeyaml.NewYAMLOrJSONDecoder(strings.NewReader(file), 4096); ; {
		var ext runtime.RawExtension
		if err := d.Decode(&ext); errors.Is(err, io.EOF) {
			return out, nil
		} else if err != nil {
			return nil, err
		}
		if ext.Raw = bytes.TrimSpace(ext.Raw); len(ext.Raw) == 0 || string(ext.Raw) == "null" {
			continue
		}
		v, err := decodeJSON(ext.Raw)
		if err != nil {
			return nil, err
		}
		// Bytes that are no UTF-8 are replaced where JSON is written, in both.
		raw, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		out = append(out, string(raw))
	}
}

// readAlike fails when kubectl reads a file and ReadYAML reads another thing. ReadYAML may accept more, and refuses keys
// that the library leaves to chance.
func readAlike(t interface {
	Helper()
	Fatalf(format string, args ...any)
}, file string,
) {
	t.Helper()
	want, err := kubectlReads(file)
	if err != nil {
		return
	}
	docs, err := ReadYAML([]byte(file))
	if err != nil {
		if strings.Contains(err.Error(), "a key is null") || strings.Contains(err.Error(), "in two spellings") {
			return
		}
		t.Fatalf("%q: %v, kubectl reads %q", file, err, want)
	}
	var got []string
	for _, d := range docs {
		got = append(got, string(d.val.appendJSON(nil)))
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Fatalf("%q (-kubectl +ours):\n%s", file, d)
	}
}

func TestFileIsReadAsKubectlReadsIt(t *testing.T) {
	t.Parallel()
	for i, text := range corpus() {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			files := []string{
				text, strings.TrimRight(text, "\n"), text + "\n\n", text + "---\n" + text, strings.TrimRight(text, "\n") + "\n---\n" + strings.TrimRight(text, "\n"),
				text + "---",
			}
			if !strings.HasPrefix(text, "%") { // a directive behind a separator is an error here, and nothing for kubectl
				files = append(files, "--- # one\n"+text+"\n--- # two\n")
			}
			for _, file := range files {
				readAlike(t, file)
				readAlike(t, strings.ReplaceAll(file, "\n", "\r\n"))
			}
		})
	}
}

// Blocks of text are where the end of a file shows: each kind of them, with and without a line break at the end.
func TestBlockOfTextAtTheEndOfAFileKeepsItsLineBreak(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ file, want string }{
		{"k: |\n  hello", "hello\n"},
		{"k: |\n  hello\n", "hello\n"},
		{"k: |\n  hello\n\n\n", "hello\n"},
		{"k: |-\n  hello", "hello"},
		{"k: |+\n  hello", "hello\n"},
		{"k: |+\n  hello\n\n", "hello\n\n"},
		{"k: >\n  hello\n  you", "hello you\n"},
		{"k: >-\n  hello", "hello"},
		{"k: |\n  hello\r\n  you", "hello\nyou\n"},
		{"k: hello", "hello"},
		{"k: |\n  hello\n---\nk: |\n  hello", "hello\n"},
		{"\ufeffk: |\n  hello", "hello\n"},
	} {
		t.Run(fmt.Sprintf("%q", tc.file), func(t *testing.T) {
			t.Parallel()
			readAlike(t, strings.TrimPrefix(tc.file, "\ufeff"))
			docs, err := ReadYAML([]byte(tc.file))
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range docs {
				if got := d.val.text("k"); got != tc.want {
					t.Errorf("document %d reads %q, want %q", d.Number, got, tc.want)
				}
			}
			parts, err := Parts([]byte(tc.file))
			if err != nil {
				t.Fatal(err)
			}
			want, _ := json.Marshal(map[string]string{"k": tc.want})
			for part, line := range parts {
				if got, err := ExactJSON(part, line, 1<<20); err != nil || string(got) != string(want) {
					t.Errorf("the part on line %d is %s, want %s (error %v)", line, got, want, err)
				}
			}
		})
	}
}

func TestReadingDoesNotWriteBehindAFile(t *testing.T) {
	t.Parallel()
	backing := []byte("k: |\n  helloX")
	if _, err := ReadYAML(backing[:len(backing)-1]); err != nil {
		t.Fatal(err)
	}
	if got := string(backing); got != "k: |\n  helloX" {
		t.Errorf("the memory behind the file is %q now", got)
	}
}

// Argo CD hands .argocd-source.yaml to the YAML library as it is.
func TestConfigurationFileGetsNoLineBreak(t *testing.T) {
	t.Parallel()
	got, err := ToJSON([]byte("helm:\n  values: |\n    a: 1"))
	if want := `{"helm":{"values":"a: 1"}}`; err != nil || string(got) != want {
		t.Errorf("got %s, want %s (error %v)", got, want, err)
	}
}

// A comment that touches the separator is no piece: for kubectl the two are a text, and an error where an object follows.
func TestAnyFileOfPiecesIsReadAsKubectlReadsIt(t *testing.T) {
	t.Parallel()
	pieces := []string{
		"---", "\n", "\r\n", " ", "  ", "a", "b", ": ", ":", "- ", "|", "|-", "|+", "|2", ">", ">-", " # c", "x y", "'q'", "\"d\"", "{a: 1}", "[1]", "~", "1.0",
	}
	rapid.Check(t, func(t *rapid.T) {
		readAlike(t, strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 24).Draw(t, "pieces"), ""))
	})
}
