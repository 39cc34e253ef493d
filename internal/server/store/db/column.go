package db

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"time"
)

// Encode writes a value as JSON; nothing as "".
func Encode(v any) string {
	text, err := json.Marshal(v)
	if err != nil { // of types of this repository, which all can be written
		return ""
	}
	switch string(text) {
	case "null", "{}", "[]", `""`:
		return ""
	}
	return string(text)
}

// Decode returns what Scan reads JSON into.
func Decode[V any](v *V) sql.Scanner {
	return Scanner(func(text string) error { return json.Unmarshal([]byte(text), v) })
}

// Instant returns what Scan reads microseconds into.
func Instant(at *time.Time) sql.Scanner { return (*microseconds)(at) }

// Scanner reads a text.
type Scanner func(string) error

// Scan reads a text; nothing where it is empty.
func (s Scanner) Scan(value any) error {
	switch value := value.(type) {
	case nil:
		return nil
	case string:
		if value == "" {
			return nil
		}
		return s(value)
	case []byte:
		if len(value) == 0 {
			return nil
		}
		return s(string(value))
	}
	return fmt.Errorf("read text: it is a %T", value)
}

type microseconds time.Time

// Scan reads microseconds since 1970.
func (m *microseconds) Scan(value any) error {
	us, ok := value.(int64)
	if !ok {
		return fmt.Errorf("read time: it is a %T", value)
	}
	*m = microseconds(Moment(us))
	return nil
}

// Raw is JSON, or nil where there is none.
func Raw(text string) json.RawMessage {
	if text == "" {
		return nil
	}
	return json.RawMessage(text)
}

// Number64 is what Scan hands a number to.
type Number64 func(int64)

// Scan reads a number.
func (f Number64) Scan(value any) error {
	n, ok := value.(int64)
	if !ok {
		return fmt.Errorf("read number: it is a %T", value)
	}
	f(n)
	return nil
}
