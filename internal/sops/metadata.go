package sops

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/internal/legible"
)

// metadata is what SOPS adds to a file.
type metadata struct {
	groups           [][]Recipient
	threshold        int // of groups that are needed
	mac              string
	modified         time.Time
	macOnlyEncrypted bool
	rules            rules
	missing          []string
}

// Kinds of keys, as SOPS names them.
const (
	KindAge   = "age"
	KindPGP   = "pgp"
	KindAWS   = "kms"
	KindGCP   = "gcp_kms"
	KindAzure = "azure_kv"
	KindVault = "hc_vault"
	KindHC    = "hckms"
)

// naming says which fields of a key are its name.
func naming(kind string) []string {
	switch kind {
	case KindAge:
		return []string{"recipient"}
	case KindPGP:
		return []string{"fp"}
	case KindAWS:
		return []string{"arn"}
	case KindGCP:
		return []string{"resource_id"}
	case KindAzure:
		return []string{"vault_url", "name", "version"}
	case KindVault:
		return []string{"vault_address", "engine_path", "key_name"}
	}
	return []string{"key_id"}
}

// kinds are all kinds of keys, in the order in which they are tried: those that need no service first.
func kinds() []string {
	return []string{KindAge, KindPGP, KindAWS, KindGCP, KindAzure, KindVault, KindHC}
}

// Recipient is one key that a file is for.
type Recipient struct {
	Kind    string            `json:"kind"`
	Fields  map[string]string `json:"fields"`            // its name and what is needed to reach it
	Context map[string]string `json:"context,omitempty"` // of a key of AWS KMS: what its use is bound to
	Sealed  string            `json:"encryptedDataKey"`
}

// String names the key. The name is no secret.
func (r Recipient) String() string {
	var parts []string
	for _, field := range naming(r.Kind) {
		if v := r.Fields[field]; v != "" {
			parts = append(parts, v)
		}
	}
	name := strings.Join(parts, "/")
	name = strconv.Quote(legible.Cut(name, 200))
	name = name[1 : len(name)-1]
	label := map[string]string{
		KindAge: "", KindPGP: "PGP key ", KindAWS: "AWS KMS key ", KindGCP: "Google Cloud KMS key ", KindAzure: "Azure Key Vault key ",
		KindVault: "Vault key ", KindHC: "Huawei Cloud KMS key ",
	}[r.Kind]
	return label + name
}

// dict is metadata as any format has it: texts, numbers, booleans, dicts and lists.
type dict = map[string]any

// readMetadata reads the metadata of a file.
func readMetadata(d dict) (metadata, error) {
	var m metadata
	m.mac = text(d["mac"])
	if m.mac == "" {
		m.missing = append(m.missing, "mac")
	}
	modified := text(d["lastmodified"])
	if t, ok := d["lastmodified"].(time.Time); ok {
		modified = t.Format(time.RFC3339)
	}
	var err error
	if m.modified, err = time.Parse(time.RFC3339, modified); err != nil {
		m.missing = append(m.missing, "lastmodified")
	}
	m.macOnlyEncrypted, _ = strconv.ParseBool(text(d["mac_only_encrypted"]))
	m.threshold, _ = strconv.Atoi(text(d["shamir_threshold"]))
	if m.rules, err = rulesOf(func(name string) string { return text(d[name]) }); err != nil {
		return m, err
	}
	total := 0
	add := func(d dict) error {
		group, err := readGroup(d)
		total += len(group)
		if total > maxKeys || len(m.groups) >= maxGroups {
			return fmt.Errorf("%w: more than %d keys or %d groups of them", ErrLimit, maxKeys, maxGroups)
		}
		if len(group) > 0 {
			m.groups = append(m.groups, group)
		}
		return err
	}
	groups, _ := d["key_groups"].([]any)
	if len(groups) > maxGroups {
		return m, fmt.Errorf("%w: more than %d groups of keys", ErrLimit, maxGroups)
	}
	for _, g := range groups {
		one, _ := g.(dict)
		if err := add(one); err != nil {
			return m, err
		}
	}
	if len(groups) == 0 {
		if err := add(d); err != nil {
			return m, err
		}
	}
	if len(m.groups) == 0 {
		m.missing = append(m.missing, "the list of keys (age, pgp, …)")
	}
	return m, nil
}

// check reports what is missing.
func (m *metadata) check() error {
	if len(m.missing) == 0 {
		return nil
	}
	return fmt.Errorf("%w: its sops block lacks %s; restore the block, or encrypt the file again", ErrDamaged, strings.Join(m.missing, ", "))
}

func readGroup(d dict) ([]Recipient, error) {
	var out []Recipient
	for _, kind := range kinds() {
		list, _ := d[kind].([]any)
		if len(list) > maxKeys {
			return nil, fmt.Errorf("%w: more than %d keys", ErrLimit, maxKeys)
		}
		for _, k := range list {
			key, _ := k.(dict)
			r := Recipient{Kind: kind, Fields: map[string]string{}, Sealed: text(key["enc"])}
			if len(r.Sealed) > maxSealed {
				return nil, fmt.Errorf("%w: an encrypted data key is larger than %d KiB", ErrLimit, maxSealed>>10)
			}
			for _, field := range slices.Sorted(maps.Keys(key)) {
				switch v := key[field].(type) {
				case dict:
					if field == "context" {
						r.Context = texts(v)
					}
				default:
					if s := text(v); field != "enc" && s != "" {
						r.Fields[field] = s
					}
				}
			}
			out = append(out, r)
		}
	}
	return out, nil
}

func texts(d dict) map[string]string {
	out := make(map[string]string, len(d))
	for k, v := range d {
		out[k] = text(v)
	}
	return out
}

// text is a scalar of metadata as a text: formats without types have nothing else.
func text(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case time.Time:
		return v.Format(time.RFC3339)
	case dict, []any:
		return ""
	}
	return fmt.Sprint(v)
}

// Separators of the keys of flattened metadata.
const (
	flatMap  = "__map_"
	flatList = "__list_"
)

// maxFlat bounds the entries of flattened metadata.
const maxFlat = 5000

// unflatten makes metadata of the flat form that formats without nesting have: pgp__list_0__map_fp.
func unflatten(flat map[string]string) (dict, error) {
	if len(flat) > maxFlat {
		return nil, fmt.Errorf("%w: more than %d entries of metadata", ErrLimit, maxFlat)
	}
	root := dict{}
	for _, key := range slices.Sorted(maps.Keys(flat)) {
		at, rest := root, key
		for depth := 0; ; depth++ {
			i, next := nextPart(rest)
			if i < 0 {
				break
			}
			if depth > maxDepth {
				return nil, fmt.Errorf("%w: metadata is nested too deeply", ErrLimit)
			}
			inner, ok := at[rest[:i]].(dict)
			if !ok {
				inner = dict{}
				at[rest[:i]] = inner
			}
			at, rest = inner, rest[next:]
		}
		at[rest] = flat[key]
	}
	out, _ := listed(root).(dict)
	return out, nil
}

// nextPart finds the end of the first part of a flat key and the beginning of the next one; -1 where it has one part.
func nextPart(key string) (end, next int) {
	m, l := strings.Index(key, flatMap), strings.Index(key, flatList)
	switch {
	case m < 0 && l < 0:
		return -1, 0
	case l < 0 || m >= 0 && m < l:
		return m, m + len(flatMap)
	}
	return l, l + len(flatList)
}

// listed turns dicts whose keys are the places of a list into lists.
func listed(v any) any {
	d, ok := v.(dict)
	if !ok {
		return v
	}
	list := make([]any, len(d))
	isList := len(d) > 0
	for key, inner := range d {
		d[key] = listed(inner)
		i, err := strconv.Atoi(key)
		if err != nil || i < 0 || i >= len(list) || strconv.Itoa(i) != key {
			isList = false
			continue
		}
		list[i] = d[key]
	}
	if isList {
		return list
	}
	return d
}
