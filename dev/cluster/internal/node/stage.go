package node

import (
	"embed"
	"fmt"

	nodefast "sigs.k8s.io/kwok/kustomize/stage/node/fast"
	nodelease "sigs.k8s.io/kwok/kustomize/stage/node/heartbeat-with-lease"
	podfast "sigs.k8s.io/kwok/kustomize/stage/pod/fast"
	"sigs.k8s.io/kwok/pkg/apis/internalversion"
	"sigs.k8s.io/kwok/pkg/config"
)

// outcomes holds the stages of our own, which let a pod ask for another end
// than the usual one.
//
//go:embed stage/*.yaml
var outcomes embed.FS

// stages returns the life of nodes and pods as KWOK plays it, by kind.
func stages() (map[internalversion.StageResourceRef][]*internalversion.Stage, error) {
	texts := []string{
		nodefast.DefaultNodeInit,
		nodelease.DefaultNodeHeartbeatWithLease,
		podfast.DefaultPodReady,
		podfast.DefaultPodComplete,
		podfast.DefaultPodDelete,
	}
	entries, err := outcomes.ReadDir("stage")
	if err != nil {
		return nil, fmt.Errorf("list stages: %w", err)
	}
	for _, entry := range entries {
		text, err := outcomes.ReadFile("stage/" + entry.Name())
		if err != nil {
			return nil, fmt.Errorf("read stage: %w", err)
		}
		texts = append(texts, string(text))
	}
	byKind := map[internalversion.StageResourceRef][]*internalversion.Stage{}
	for _, text := range texts {
		stage, err := config.UnmarshalWithType[*internalversion.Stage](text)
		if err != nil {
			return nil, fmt.Errorf("parse stage: %w", err)
		}
		ref := stage.Spec.ResourceRef
		byKind[ref] = append(byKind[ref], stage)
	}
	return byKind, nil
}
