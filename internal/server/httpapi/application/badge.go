package application

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/legible"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/core"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/item"
)

// BadgeRoutes draw the state of applications for pages elsewhere, such as a README.
type BadgeRoutes struct {
	*item.Clusters
	Keeper core.Keeper
}

type badgeInput struct {
	item.Input
	ShowName    bool   `query:"showAppName" doc:"Begin with the name of the application"`
	Revision    bool   `query:"revision" doc:"End with the revision that was compared"`
	IfNoneMatch string `header:"If-None-Match" maxLength:"400" doc:"ETag of the badge that the caller has: 304 where it is the same"`
}

type badgeOutput struct {
	Status       int
	ContentType  string `header:"Content-Type"`
	CacheControl string `header:"Cache-Control"`
	ETag         string `header:"ETag"`
	Reach        string `header:"Cross-Origin-Resource-Policy"`
	Body         []byte
}

// Routes are its rows of the table.
func (h *BadgeRoutes) Routes() []core.Route {
	badge := core.Route{
		Method: http.MethodGet, Path: item.ApplicationPath + "/badge", Access: core.Public, ID: "application-badge", Tag: "applications",
		Summary: "Draw health and sync status of an application as SVG, for anyone; there is none unless the settings turn badges on",
	}
	badge.Mount = core.Mount(core.Answer[badgeInput, badgeOutput]{Do: h.badge})
	return []core.Route{badge}
}

// badge answers alike for an application that does not exist and for one of which nothing is known, so that no client that is not signed
// in learns which applications there are.
func (h *BadgeRoutes) badge(ctx context.Context, _ *core.Call, in *badgeInput) (*badgeOutput, error) {
	settings, err := h.Keeper.Settings(ctx)
	if err != nil {
		return nil, err
	}
	if !settings.Badges {
		return nil, api.Errorf(api.CodeNotFound, "status badges are off: a person who may edit the settings of the server can turn them on")
	}
	health, sync, revision := unknownState, unknownState, ""
	found, err := h.FindApplication(ctx, in.Input)
	app, _ := found.Value.(*api.ApplicationDetail)
	switch {
	case err != nil && api.CodeOf(err) != api.CodeNotFound:
		return nil, err
	case err == nil && app != nil && !app.Stale:
		health, sync, revision = cmp.Or(app.Health, unknownState), cmp.Or(app.Sync, unknownState), app.Revision
	}
	parts := []badgePart{{health, badgeColour(health)}, {sync, badgeColour(sync)}}
	if in.ShowName {
		parts = append([]badgePart{{in.Name, badgeGrey}}, parts...)
	}
	if in.Revision && revision != "" {
		parts = append(parts, badgePart{shortRevision(revision), badgeGrey})
	}
	out := &badgeOutput{
		Status: http.StatusOK, ContentType: "image/svg+xml; charset=utf-8", CacheControl: "no-cache", Reach: "cross-origin",
		Body: drawBadge(parts),
	}
	hash := sha256.Sum256(out.Body)
	out.ETag = `"` + base64.RawURLEncoding.EncodeToString(hash[:16]) + `"`
	if strings.Contains(in.IfNoneMatch, out.ETag) {
		out.Status, out.Body = http.StatusNotModified, nil
	}
	return out, nil
}

const (
	unknownState = "Unknown"
	// A revision is a commit, of which the beginning is enough, or a name.
	commitLength, shortCommit, longestRevision = 40, 7, 30
	// badgeGrey is the colour of what is no state, and of what is not known.
	badgeGrey = "#57606a"
	// Points of a badge.
	badgeHeight, badgeMargin, badgeLetter, badgeGap = 20, 7, 7, 1
)

func shortRevision(revision string) string {
	return legible.Cut(legible.Revision(revision, shortCommit), longestRevision)
}

// badgePart is a word of a badge on its colour.
type badgePart struct{ text, colour string }

// badgeColour is what white letters can be read on.
func badgeColour(state string) string {
	switch state {
	case "Healthy", "Synced":
		return "#1a7f37"
	case "Progressing":
		return "#0969da"
	case "Degraded":
		return "#cf222e"
	case "OutOfSync", "Missing":
		return "#9a6700"
	case "Suspended":
		return "#6639ba"
	}
	return badgeGrey
}

// drawBadge draws parts beside each other. Each text is given its width, so that the badge is the same with every font.
func drawBadge(parts []badgePart) []byte {
	var shapes, words strings.Builder
	var texts []string
	at := 0
	for i, p := range parts {
		if i > 0 {
			at += badgeGap
		}
		text := html.EscapeString(p.text)
		long := utf8.RuneCountInString(p.text) * badgeLetter
		fmt.Fprintf(&shapes, `<rect x="%d" width="%d" height="%d" fill="%s"/>`, at, long+2*badgeMargin, badgeHeight, p.colour)
		fmt.Fprintf(&words, `<text x="%d" y="14" textLength="%d" lengthAdjust="spacingAndGlyphs">%s</text>`, at+badgeMargin, long, text)
		texts = append(texts, text)
		at += long + 2*badgeMargin
	}
	said := strings.Join(texts, ", ")
	return fmt.Appendf(nil,
		`<svg xmlns="http://www.w3.org/2000/svg" width="%[1]d" height="%[2]d" viewBox="0 0 %[1]d %[2]d" role="img" aria-label="%[3]s"><title>%[3]s</title>`+
			`<clipPath id="r"><rect width="%[1]d" height="%[2]d" rx="4"/></clipPath><g clip-path="url(#r)">%[4]s</g>`+
			`<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">%[5]s</g></svg>`, at, badgeHeight, said,
		shapes.String(), words.String())
}
