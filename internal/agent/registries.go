package agent

import (
	"fmt"

	"github.com/slipway-gitops/slipway/internal/agent/keyhelper"
	"github.com/slipway-gitops/slipway/internal/agent/place"
	"github.com/slipway-gitops/slipway/internal/cloud"
	"github.com/slipway-gitops/slipway/internal/repository"
	"github.com/slipway-gitops/slipway/internal/source/archive"
	"github.com/slipway-gitops/slipway/internal/source/artifact"
	"github.com/slipway-gitops/slipway/internal/source/lfs"
	"github.com/slipway-gitops/slipway/internal/source/registrylogin"
	"github.com/slipway-gitops/slipway/internal/webhook"
)

// addSources makes what reads repositories, charts and artifacts, with what settings have to sign in with.
func addSources(a *Agent) error {
	cfg := &a.cfg
	keeper := cloud.NewKeeper(cloud.Options{Outbound: cfg.Outbound})
	a.settings.SignIn = repository.SignIn{Keeper: keeper}
	a.sources = place.NewSources(a.pool, a.settings)
	a.sources.Decrypted = a.veil.Note
	helper, err := keyhelper.New(cfg.KeyHelper, cfg.KeyHelperEnv)
	if err != nil {
		return fmt.Errorf("--sops-key-helper: %w", err)
	}
	if helper != nil {
		a.sources.Opener = helper
	}
	a.sources.Large = lfs.NewStore(cfg.Data+"/lfs", cfg.Outbound)
	a.sources.Permits = func(project, url string) bool {
		rules, err := a.projects.Rules(project)
		return err == nil && rules.PermitsSource(url) == nil
	}
	archives, err := archive.Open(cfg.Data+"/archives", 0)
	if err != nil {
		return err
	}
	a.registries = &place.Registries{
		Settings: a.settings, Store: archives, Outbound: cfg.Outbound, Log: cfg.Log,
		Pod: registrylogin.NewPod(registrylogin.PodOptions{Keeper: keeper, Outbound: cfg.Outbound, Registries: cfg.RegistryClouds}),
	}
	a.sources.Artifacts = &place.Artifacts{Pool: a.artifacts, Store: archives, Policy: cfg.Outbound, Registry: a.registries.Open}
	return nil
}

// published wakes what follows an artifact that a registry reports.
func published(a *Agent, e webhook.Event) {
	a.metrics.pushed(string(e.Provider))
	concerned := func(r artifact.Remote) bool { return e.ConcernsArtifact(r.URL(), "", e.Artifact.Tag) }
	a.background.Go(func() { a.artifacts.Wake(a.ctx, concerned) })
}
