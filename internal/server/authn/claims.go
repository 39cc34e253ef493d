package authn

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/legible"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// Bounds of what is taken over from claims.
const (
	maxGroups     = 1000
	maxGroupName  = 500
	maxSubject    = 255
	maxMail       = 320
	maxTitle      = 200
	maxClaimDepth = 8
)

// claims are what a provider says of a person.
type claims map[string]json.RawMessage

// unambiguous refuses an ID token that can be read in two ways: with a name twice, or with one that a library takes for a
// registered one, since it compares without letter case.
func unambiguous(token string, says claims) error {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return sentence("the ID token does not have three parts")
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return sentence("the ID token is not written as base64")
	}
	if err := strict.Check(payload, nil); err != nil {
		return sentence("the ID token has a claim twice, or is no plain JSON")
	}
	for name := range says {
		for _, registered := range []string{"iss", "sub", "aud", "azp", "exp", "nbf", "iat", "nonce", "at_hash"} {
			if name != registered && strings.EqualFold(name, registered) {
				return sentence("the ID token has the claim " + registered + " twice, in other letters")
			}
		}
	}
	return nil
}

// claimsOf reads claims by their exact names. A claim that is sent twice is ignored: readers take another one of the two.
func claimsOf(from interface{ Claims(v any) error }, into *claims) error {
	var raw json.RawMessage
	if err := from.Claims(&raw); err != nil {
		return err
	}
	return strict.Decode(raw, into, strict.Foreign)
}

// text is a claim that is a text; else empty.
func (c claims) text(name string) string {
	var s string
	if strict.Decode(c.find(name), &s, strict.Foreign) != nil {
		return ""
	}
	return strings.ToValidUTF8(s, "")
}

// yes is a claim that is true, or the text of it.
func (c claims) yes(name string) bool {
	var b bool
	return strict.Decode(c.find(name), &b, strict.Foreign) == nil && b || c.text(name) == "true"
}

// find gives a claim of that very name, else the one that the path with dots leads to.
func (c claims) find(name string) json.RawMessage {
	if raw, ok := c[name]; ok {
		return raw
	}
	at := c
	parts := strings.Split(name, ".")
	for i, part := range parts {
		raw := at[part]
		if i == len(parts)-1 || i == maxClaimDepth {
			return raw
		}
		at = nil
		if strict.Decode(raw, &at, strict.Foreign) != nil {
			return nil
		}
	}
	return nil
}

// has says whether the claim is there.
func (c claims) has(name string) bool { return c.find(name) != nil }

// list is a claim that is a list of texts, or one text. What is no text or too long is left out.
func (c claims) list(name string) []string {
	raw := c.find(name)
	var many []json.RawMessage
	if strict.Decode(raw, &many, strict.Foreign) != nil {
		many = []json.RawMessage{raw}
	}
	var out []string
	for _, one := range many[:min(len(many), maxGroups)] {
		var s string
		if strict.Decode(one, &s, strict.Foreign) == nil && s != "" && len(s) <= maxGroupName {
			out = append(out, s)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// person is what we keep of what a provider says.
type person struct {
	subject, name, title, mail string
	verified                   bool
	groups                     []string
}

// read takes what we keep from claims.
func (p Provider) read(c claims) (person, error) {
	out := person{
		subject: c.text("sub"), name: c.text(p.NameClaim), title: legible.Prefix(c.text("name"), maxTitle), mail: c.text("email"),
		verified: c.yes("email_verified") || p.TrustMail && !c.has("email_verified"),
		groups:   c.list(p.GroupsClaim),
	}
	// A part that cannot be read stands for many: two people would be one.
	odd := strings.ContainsFunc(out.subject, func(r rune) bool { return r == utf8.RuneError || unicode.IsControl(r) })
	if out.subject == "" || len(out.subject) > maxSubject || odd {
		return out, sentence("the ID token has no subject that can be kept")
	}
	if len(out.mail) > maxMail || strings.ContainsAny(out.mail, "\r\n") {
		out.mail = ""
	}
	return out, nil
}

// admits reports whether a user with that mail address may sign in.
func (p Provider) admits(who person) error {
	if len(p.Domains) == 0 {
		return nil
	}
	if who.mail == "" {
		return api.Errorf(api.CodeForbidden,
			"identity provider %s gave no mail address, and only some domains may sign in: have it give the scope email", p.Name)
	}
	if !who.verified {
		return api.Errorf(api.CodeForbidden,
			"identity provider %s has not verified the mail address %s: verify it there, and sign in again", p.Name, who.mail)
	}
	at := strings.LastIndexByte(who.mail, '@')
	if !slices.ContainsFunc(p.Domains, func(d string) bool { return strings.EqualFold(strings.TrimPrefix(d, "@"), who.mail[at+1:]) }) {
		return api.Errorf(api.CodeForbidden, "mail addresses of %s may not sign in here: ask an administrator of this server", who.mail[at+1:])
	}
	return nil
}

// maxBase leaves room for what makes a name unique.
const maxBase = 40

// userName makes the name of an entity of a user's name at a provider.
func userName(who person) string {
	for _, from := range []string{who.name, who.mail, who.title} {
		from, _, _ = strings.Cut(strings.ToLower(from), "@")
		var b strings.Builder
		for _, r := range from {
			switch {
			case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
				b.WriteRune(r)
			case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
				b.WriteByte('-')
			}
			if b.Len() == maxBase {
				break
			}
		}
		if name := strings.Trim(b.String(), "-"); name != "" {
			return name
		}
	}
	return "user"
}
