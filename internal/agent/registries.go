package agent

import (
	"github.com/slipway-gitops/slipway/internal/agent/place"
	"github.com/slipway-gitops/slipway/internal/source/archive"
	"github.com/slipway-gitops/slipway/internal/source/artifact"
	"github.com/slipway-gitops/slipway/internal/source/registrylogin"
	"github.com/slipway-gitops/slipway/internal/webhook"
)

// readRegistries makes what reads charts and artifacts, which a store keeps.
func readRegistries(a *Agent, archives *archive.Store) {
	cfg := &a.cfg
	a.registries = &place.Registries{
		Settings: a.settings, Store: archives, Outbound: cfg.Outbound, Log: cfg.Log,
		Pod: registrylogin.NewPod(registrylogin.PodOptions{Outbound: cfg.Outbound, Registries: cfg.RegistryClouds}),
	}
	a.sources.Artifacts = &place.Artifacts{Pool: a.artifacts, Store: archives, Policy: cfg.Outbound, Registry: a.registries.Open}
}

// published wakes what follows an artifact that a registry reports.
func published(a *Agent, e webhook.Event) {
	a.metrics.pushed(string(e.Provider))
	concerned := func(r artifact.Remote) bool { return e.ConcernsArtifact(r.URL(), "", e.Artifact.Tag) }
	a.background.Go(func() { a.artifacts.Wake(a.ctx, concerned) })
}
