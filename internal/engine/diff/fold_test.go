package diff

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAStringOfASecretIsAppliedAsItIsStored(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, obj, want string }{
		{"both", "{apiVersion: v1, kind: Secret, data: {a: eA==, b: eQ==}, stringData: {a: z}}", "{apiVersion: v1, kind: Secret, data: {a: eg==, b: eQ==}}"},
		{"no text", "{apiVersion: v1, kind: Secret, stringData: {a: 1}}", "{apiVersion: v1, kind: Secret, data: {a: 1}}"},
		{"none", "{apiVersion: v1, kind: Secret, data: {}}", "{apiVersion: v1, kind: Secret, data: {}}"},
		{"another kind", "{apiVersion: example.com/v1, kind: Secret, stringData: {a: z}}", "{apiVersion: example.com/v1, kind: Secret, stringData: {a: z}}"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			obj := parsed(t, test.obj)
			FoldSecret(obj)
			if diff := cmp.Diff(parsed(t, test.want), obj); diff != "" {
				t.Error(diff)
			}
		})
	}
}
