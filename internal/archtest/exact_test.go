package archtest

import (
	"slices"
	"strings"
	"testing"
)

// isShipped reports whether a file is part of a program that is shipped, and reads what comes from outside of it.
func isShipped(name string) bool {
	if strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "internal/testenv/") || strings.HasPrefix(name, strictly+"/") {
		return false
	}
	return strings.HasPrefix(name, "api/") || strings.HasPrefix(name, "cmd/") || strings.HasPrefix(name, "internal/")
}

// looseReaders are functions that read a document in a way of their own, by package.
func looseReaders() map[string][]string {
	return map[string][]string{
		"json":     {"Unmarshal", "NewDecoder"},
		"yaml":     {"Unmarshal", "UnmarshalStrict", "NewDecoder"},
		"kjson":    {"UnmarshalStrict", "UnmarshalCaseSensitivePreserveInts"},
		"sigsyaml": {"Unmarshal"},
	}
}

// exempt are files that may, by why nothing depends on how they are read. Names match in any case in encoding/json, and the last
// of two counts; other readers differ.
func exempt() map[string]string {
	const (
		own     = "reads what this program wrote, or a part of it"
		server  = "reads answers of the user's own server, which decide nothing there"
		cluster = "reads what an API server wrote, which has one meaning by then"
		argo    = "reads a setting of Argo CD in the way that Argo CD does"
		shown   = "reads a text to show or to hide it, which decides nothing"
		builtin = "reads a file that is part of the program"
		render  = "reads as Kubernetes' tools read, with which it is compared"
	)
	return map[string]string{
		"internal/agent/install.go":        builtin,
		"internal/agent/place/settings.go": "looks for secrets to hide, and takes for one what any reader could",

		"api/argo/v1alpha1/decode.go":    "has exact names, and names the unknown ones",
		"api/argo/v1alpha1/generator.go": "has exact names",
		"api/client/client.go":           server, "api/client/command.go": server, "api/client/error.go": server,
		"api/client/event.go": server, "api/client/stream.go": server, "api/client/tree.go": server,

		"internal/cli/connect/application.go": cluster,
		"internal/cli/connect/server.go":      server,
		"internal/cli/app/spec.go":            own,
		"internal/cli/ledger/export.go":       server,
		"internal/cli/audit/verify.go":        server,
		"internal/cli/noun/print.go":          shown,
		"internal/cli/manifest/line.go":       "finds the line of what the strict decoder refused",
		"internal/cli/setting/setting.go":     server,
		"internal/cli/stack/detach.go":        own, "internal/cli/stack/port.go": own, "internal/cli/stack/prepare.go": builtin,
		"internal/cli/support/clean.go": shown,

		"internal/server/hosting/log.go":     own,
		"internal/server/notify/courier.go":  "reads what the other half of the program wrote into a pipe",
		"internal/server/store/db/backup.go": "reads rows of a backup, which only an administrator of the database restores",
		"internal/server/store/db/column.go": own,
		"internal/server/store/db/page.go":   "reads a cursor of its own making, and checks each part",

		"internal/chain/chain.go":           "makes the one form that is kept and hashed",
		"internal/inspect/guard.go":         "judges a patch that the strict decoder took, and sends the bytes that it judged",
		"internal/redact/address.go":        shown,
		"internal/redact/redact.go":         "hides whatever any reader could take for a secret",
		"internal/agent/veil/veil.go":       "hides whatever any reader could take for a secret",
		"internal/source/helmrepo/entry.go": "measures what the strict decoder reads afterwards",
		"internal/sops/json.go":             "refuses keys that come twice, and keeps the order, which is authenticated",
		"internal/sops/yaml.go":             "refuses keys that come twice and anchors, and keeps the order, which is authenticated",
		"internal/seal/seal.go":             "tells a form of an earlier version, to say so",
		"internal/agent/instance/feed.go":   cluster,
		"internal/agent/record/book.go":     own,
		"internal/agent/record/send.go":     own,
		"internal/engine/object/decode.go":  "has exact names and keeps whole numbers",

		"internal/engine/action/custom.go": argo, "internal/engine/health/override.go": argo,
		"internal/engine/diff/settings.go": argo, "internal/engine/diff/exclusion.go": argo, "internal/deeplink/link.go": argo,
		"internal/engine/action/rule.go": builtin, "internal/engine/health/rulefile.go": builtin,
		"internal/engine/apply/client.go": cluster, "internal/engine/apply/recreate.go": cluster, "internal/engine/apply/relax.go": cluster,
		"internal/engine/diff/fields.go": cluster, "internal/engine/diff/fieldset.go": cluster, "internal/engine/diff/owned.go": cluster,
		"internal/engine/diff/mask.go": shown, "internal/engine/diff/offline.go": "reads kubectl's annotation as kubectl does",
		"internal/engine/health/resource.go":         "reads conditions to judge the health of the object that has them",
		"internal/engine/live/stream/object.go":      cluster,
		"internal/engine/render/browse/detail.go":    shown,
		"internal/engine/render/document/read.go":    render,
		"internal/engine/render/document/exact.go":   "refuses names that come twice; its callers check the JSON that it makes",
		"internal/engine/render/need/chart.go":       render,
		"internal/engine/render/kustomize/origin.go": "reads an annotation that Kustomize wrote",
		"internal/engine/render/worker/frame.go":     "reads what a confined child says, whose objects are judged afterwards",
		"internal/engine/script/script.go":           "reads the result of a script, whose author chooses it",
	}
}

func TestWhatIsJudgedIsReadByTheStrictDecoder(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	eachUse(t, func(name string, line int, of, what string) {
		if !isShipped(name) || !slices.Contains(looseReaders()[of], what) {
			return
		}
		if used[name] = exempt()[name] != ""; !used[name] {
			t.Errorf("%s:%d reads with %s.%s: use internal/strict, which has one meaning for a document", name, line, of, what)
		}
	})
	for name := range exempt() {
		if !used[name] {
			t.Errorf("%s needs no exemption any more: take it out", name)
		}
	}
}
