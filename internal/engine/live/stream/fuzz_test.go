package stream

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
)

// An API server that says nonsense is an error, and what is read of it is what it said.
func FuzzAnswerOfAnAPIServer(f *testing.F) {
	f.Add([]byte(`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1","remainingItemCount":-1},"items":[{"metadata":{"name":"a"}},null]}`))
	f.Add([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","code":"x"}`))
	f.Add([]byte(`{"kind":"List","metadata":{"name":null,"annotations":{"a":"b"}}}`))
	f.Add([]byte(`{"metadata":[]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		out, kind, err := codec{}.Decode(raw, nil, nil)
		if err != nil {
			return
		}
		if out == nil || kind == nil {
			t.Fatal("neither an object nor an error")
		}
		list, ok := out.(*List)
		if !ok {
			return
		}
		for i := range list.Items {
			if again, _, err := (codec{}).Decode(list.Items[i].Raw, nil, nil); err != nil || again == runtime.Object(nil) {
				t.Errorf("item %d is not read alone: %v", i, err)
			}
		}
	})
}
