package sidecar

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/slipway-gitops/slipway/internal/engine/render"
)

// codec writes and reads the messages of the protocol, which are few. Its name is that of the encoding on the wire.
type codec struct{}

// message is one that this side sends.
type message interface{ encode() []byte }

// reply is one that this side reads.
type reply interface {
	// field takes a field of the message: num for numbers, data for texts and messages.
	field(number protowire.Number, num uint64, data []byte)
}

// Marshal writes a message.
func (codec) Marshal(v any) ([]byte, error) {
	m, ok := v.(message)
	if !ok {
		return nil, fmt.Errorf("%T is no message of the protocol of plugins", v)
	}
	return m.encode(), nil
}

// Unmarshal reads a message. Fields that are not known are left out.
func (codec) Unmarshal(data []byte, v any) error {
	r, ok := v.(reply)
	if !ok {
		return fmt.Errorf("%T is no message of the protocol of plugins", v)
	}
	for len(data) > 0 {
		number, kind, n := protowire.ConsumeTag(data)
		if n < 0 {
			return errMalformed
		}
		data = data[n:]
		switch kind {
		case protowire.VarintType:
			num, n := protowire.ConsumeVarint(data)
			if n < 0 {
				return errMalformed
			}
			r.field(number, num, nil)
			data = data[n:]
		case protowire.BytesType:
			raw, n := protowire.ConsumeBytes(data)
			if n < 0 {
				return errMalformed
			}
			r.field(number, 0, raw)
			data = data[n:]
		default:
			n := protowire.ConsumeFieldValue(number, kind, data)
			if n < 0 {
				return errMalformed
			}
			data = data[n:]
		}
	}
	return nil
}

// Name is that of the encoding.
func (codec) Name() string { return "proto" }

var errMalformed = errors.New("the plugin sent a malformed message")

// empty is a message without fields.
type empty struct{}

func (empty) encode() []byte { return nil }

// about is the first message of a stream: what the files are that follow.
type about struct {
	app, path, checksum string
	size                int64
	env                 []string // NAME=value
}

func (a about) encode() []byte {
	var b []byte
	b = appendText(b, 1, a.app)
	b = appendText(b, 2, a.path)
	b = appendText(b, 3, a.checksum)
	b = protowire.AppendTag(b, 4, protowire.VarintType)
	b = protowire.AppendVarint(b, uint64(a.size))
	for _, one := range a.env {
		name, value := cut(one)
		b = appendMessage(b, 5, appendText(appendText(nil, 1, name), 2, value))
	}
	return appendMessage(nil, 1, b)
}

// chunk is a part of the archive.
type chunk []byte

func (c chunk) encode() []byte {
	return appendMessage(nil, 2, appendMessage(nil, 1, c))
}

func appendText(b []byte, number protowire.Number, text string) []byte {
	if text == "" {
		return b
	}
	return protowire.AppendString(protowire.AppendTag(b, number, protowire.BytesType), text)
}

func appendMessage(b []byte, number protowire.Number, raw []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, number, protowire.BytesType), raw)
}

// configuration says what a plugin is set up for.
type configuration struct{ discovers bool }

func (c *configuration) field(number protowire.Number, num uint64, _ []byte) {
	if number == 1 {
		c.discovers = num != 0
	}
}

// match says whether a plugin knows the files.
type match struct{ supported bool }

func (m *match) field(number protowire.Number, num uint64, _ []byte) {
	if number == 1 {
		m.supported = num != 0
	}
}

// manifests are what a plugin made.
type manifests struct{ list [][]byte }

func (m *manifests) field(number protowire.Number, _ uint64, data []byte) {
	if number == 1 {
		m.list = append(m.list, data)
	}
}

// announcements are the parameters that a plugin has.
type announcements struct{ list []render.Announcement }

func (a *announcements) field(number protowire.Number, _ uint64, data []byte) {
	if number != 1 || len(a.list) >= maxParameters {
		return
	}
	p := announcement{}
	if (codec{}).Unmarshal(data, &p) == nil {
		a.list = append(a.list, render.Announcement(p))
	}
}

// announcement is one parameter.
type announcement render.Announcement

func (a *announcement) field(number protowire.Number, num uint64, data []byte) {
	switch number {
	case 1:
		a.Name = string(data)
	case 2:
		a.Title = string(data)
	case 3:
		a.Tooltip = string(data)
	case 4:
		a.Required = num != 0
	case 5:
		a.ItemType = string(data)
	case 6:
		a.CollectionType = string(data)
	case 7:
		a.String = string(data)
	case 8:
		a.Array = append(a.Array, string(data))
	case 9:
		var p pair
		if (codec{}).Unmarshal(data, &p) == nil {
			if a.Map == nil {
				a.Map = map[string]string{}
			}
			a.Map[p.key] = p.value
		}
	}
}

// pair is an entry of a map.
type pair struct{ key, value string }

func (p *pair) field(number protowire.Number, _ uint64, data []byte) {
	switch number {
	case 1:
		p.key = string(data)
	case 2:
		p.value = string(data)
	}
}
