package rig

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// clusterTimeout is how long a cluster may take from its start to being ready.
const clusterTimeout = 3 * time.Minute

// Cluster is a private development cluster.
type Cluster struct {
	// Kubeconfig is the path of the administrator's kubeconfig.
	Kubeconfig string
	process    *Process
}

// StartCluster runs the devcluster binary with its data below dir and waits until it is ready.
func StartCluster(ctx context.Context, binary, dir string) (*Cluster, error) {
	path, err := program(binary, "build it with: make devcluster, or name a cluster with --kubeconfig")
	if err != nil {
		return nil, err
	}
	return startCluster(ctx, filepath.Join(dir, "cluster"), filepath.Join(dir, "devcluster.log"), path, "--nodes", "3")
}

// StartSite runs etcd and an API server alone, with their data below dir and a name.
func StartSite(ctx context.Context, binary, dir, name string) (*Cluster, error) {
	path, err := program(binary, "build it with: make devcluster")
	if err != nil {
		return nil, err
	}
	return startCluster(ctx, filepath.Join(dir, name), filepath.Join(dir, name+".log"), path, "--bare")
}

func startCluster(ctx context.Context, data, log, path string, flags ...string) (*Cluster, error) {
	process, err := start("devcluster", log, append([]string{path, "--data", data}, flags...))
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, clusterTimeout)
	defer cancel()
	var mark struct {
		Kubeconfig string `json:"kubeconfig"`
	}
	// The mark is written in one step once everything answers.
	err = process.until(ctx, func() bool {
		text, err := os.ReadFile(filepath.Join(data, "ready"))
		return err == nil && json.Unmarshal(text, &mark) == nil
	})
	if err == nil && mark.Kubeconfig == "" {
		err = fmt.Errorf("read mark of devcluster: it names no kubeconfig")
	}
	if err != nil {
		process.Stop()
		return nil, err
	}
	return &Cluster{Kubeconfig: mark.Kubeconfig, process: process}, nil
}

// Close stops the cluster and waits for its end.
func (c *Cluster) Close() { c.process.Stop() }
