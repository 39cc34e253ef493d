package db

import (
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/api"
)

// A cursor is a place in the list that it is of, and never a part of the query.
func FuzzCursor(f *testing.F) {
	f.Add("eyJzIjoiIiwidiI6ImEiLCJpIjoiYSJ9", "")
	f.Add("eyJzIjoiLWNyZWF0ZWQiLCJ2IjoxZTQwMCwiaSI6ImEifQ", "-created")
	f.Add("e30", "name")
	sorts := map[string]string{"name": "thing.name", "created": "thing.created_at"}
	f.Fuzz(func(t *testing.T, cursor, sort string) {
		o, err := NewOrder(api.ListOptions{Cursor: cursor, Sort: sort, Limit: 10}, "thing.id", sorts)
		if err != nil {
			if api.CodeOf(err) != api.CodeInvalid {
				t.Errorf("%v", err)
			}
			return
		}
		var w Where
		o.After(&w)
		switch text := w.String() + o.Clause(); {
		case strings.Contains(text, cursor) && cursor != "" && len(cursor) > 20:
			t.Errorf("the cursor is in the query: %s", text)
		case o.Start:
			if len(w.Args) != 1 && len(w.Args) != 3 {
				t.Errorf("%s with %v", text, w.Args)
			}
			if back, err := NewOrder(api.ListOptions{Cursor: o.Cursor(o.Value, o.StartID), Sort: sort}, "thing.id", sorts); o.Value != nil && (err != nil || back.StartID != strings.ToValidUTF8(o.StartID, "\uFFFD") || back.Value != o.Value) {
				t.Errorf("the cursor of %v and %q is read as %+v (%v)", o.Value, o.StartID, back, err)
			}
		}
	})
}
