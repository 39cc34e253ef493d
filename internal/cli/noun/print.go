package noun

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
)

// Print prints one thing: as JSON and YAML whole, else a line for each of its fields that has a value.
func Print(common *connect.Common, v any) error {
	if common.Output != iostream.Table {
		return common.Print(common.Output, v)
	}
	return Facts(common, &iostream.Rows{Header: []string{"FIELD", "VALUE"}}, v)
}

// Pages reads pages until there are limit items, or no more; limit 0 is for all. total is how many there are.
func Pages[T any](options api.ListOptions, limit int, read func(api.ListOptions) (api.Page[T], error)) (all []T, total int64, err error) {
	for {
		options.Limit = api.MaxLimit
		if limit > 0 {
			options.Limit = min(limit-len(all), api.MaxLimit)
		}
		page, err := read(options)
		if err != nil {
			return nil, 0, err
		}
		all = append(all, page.Items...)
		if page.NextCursor == "" || page.NextCursor == options.Cursor || (limit > 0 && len(all) >= limit) {
			return all, page.Total, nil
		}
		options.Cursor = page.NextCursor
	}
}

// PrintList prints a list: as JSON and YAML {"items": […]}, else a table; what to say where there is nothing.
func PrintList[T any](common *connect.Common, all []T, header []string, row func(*T) []string, nothing string) error {
	if common.Output != iostream.Table {
		if all == nil {
			all = []T{}
		}
		return common.Print(common.Output, map[string]any{"items": all})
	}
	rows := iostream.Rows{Header: header}
	for i := range all {
		rows.Add(row(&all[i])...)
	}
	if rows.Len() == 0 {
		common.Sayf("%s", nothing)
		return nil
	}
	return common.Table(&rows)
}

// Facts prints a table of what rows have, and of the fields of v that have a value, in their order.
func Facts(common *connect.Common, rows *iostream.Rows, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode output: %w", err)
	}
	if err := addFacts(func(name, text string) { rows.Add(name, text) }, "", raw); err != nil {
		return err
	}
	return common.Table(rows)
}

// addFacts adds what has a value: each thing in a list of things is one fact, which says what it has one after the other.
func addFacts(add func(name, text string), prefix string, raw json.RawMessage) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if _, err := dec.Token(); err != nil {
		return fmt.Errorf("read output: %w", err)
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return fmt.Errorf("read output: %w", err)
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return fmt.Errorf("read output: %w", err)
		}
		name := prefix + fmt.Sprint(key)
		if value[0] == '{' {
			if err := addFacts(add, name+".", value); err != nil {
				return err
			}
			continue
		}
		things := thingsOf(value)
		for _, thing := range things {
			var has []string
			if err := addFacts(func(name, text string) { has = append(has, name+"="+text) }, "", thing); err != nil {
				return err
			}
			add(name, strings.Join(has, "  "))
		}
		if text := factText(value); text != "" && things == nil {
			add(name, text)
		}
	}
	return nil
}

// thingsOf are the elements of a list that have fields; nil for whatever else a value is.
func thingsOf(raw json.RawMessage) []json.RawMessage {
	var list []json.RawMessage
	if raw[0] != '[' || json.Unmarshal(raw, &list) != nil {
		return nil
	}
	if slices.ContainsFunc(list, func(one json.RawMessage) bool { return one[0] != '{' }) || len(list) == 0 {
		return nil
	}
	return list
}

// factText is a value as people read it.
func factText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var list []string
	if json.Unmarshal(raw, &list) == nil {
		return strings.Join(list, ", ")
	}
	if string(raw) == "null" {
		return ""
	}
	return string(raw)
}

// Time prints a time; "" for none.
func Time(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// Ago prints how long ago something was, in its largest unit; "" for never.
func Ago(t, now time.Time) string {
	if t.IsZero() {
		return ""
	}
	d := now.Sub(t)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", max(0, int(d.Seconds())))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}

// ReadTime reads a time, or how long ago one was, that a flag or argument says; the zero one for no text.
func ReadTime(what, text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if ago, err := time.ParseDuration(text); err == nil && ago >= 0 {
		return now.Add(-ago), nil
	}
	if ago, err := api.ParseAge(text); err == nil { // it knows days
		return now.Add(-ago), nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, iostream.Usagef("%s %q is no time: write 2030-06-01T08:00:00Z, 2030-06-01, or 24h for a day ago, 7d for a week", what,
		text)
}

// Span is a time span that flags give.
type Span struct{ from, to string }

// AddFlags adds the flags. what comes before "from this time on", such as "only operations that ended ".
func (s *Span) AddFlags(flags *pflag.FlagSet, what string) {
	flags.StringVar(&s.from, "from", "", what+"from this `time` on: RFC 3339, a date, or how long ago, such as 24h")
	flags.StringVar(&s.to, "to", "", what+"before this `time`")
}

// Read reads what the flags say; the zero time for no flag.
func (s *Span) Read(from, to *time.Time) (err error) {
	now := time.Now()
	if *from, err = ReadTime("--from", s.from, now); err != nil {
		return err
	}
	*to, err = ReadTime("--to", s.to, now)
	return err
}

// OneOf looks whether each text that a flag was given is one of those that there are.
func OneOf(flag string, known []string, given ...string) error {
	for _, text := range given {
		if text != "" && !slices.Contains(known, text) {
			return iostream.Usagef("--%s %q is none: it can be %s", flag, text, strings.Join(known, ", "))
		}
	}
	return nil
}

// ReadLabels reads key=value and key.
func ReadLabels(list []string) (map[string]string, error) {
	if len(list) == 0 {
		return nil, nil
	}
	out := map[string]string{}
	for _, text := range list {
		key, value, _ := strings.Cut(text, "=")
		if key == "" {
			return nil, iostream.Usagef("label %q has no key: write key=value or key", text)
		}
		out[key] = value
	}
	return out, nil
}

// Labels are labels as a selector writes them.
func Labels(labels map[string]string) string {
	out := make([]string, 0, len(labels))
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if value := labels[key]; value != "" {
			key += "=" + value
		}
		out = append(out, key)
	}
	return strings.Join(out, ",")
}
