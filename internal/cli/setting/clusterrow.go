package setting

import (
	"strconv"
	"time"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/cli/noun"
)

// unknown stands for what the agent does not know.
const unknown = "-"

// clusterHeader and clusterRow are the columns of the list of clusters.
func clusterHeader() []string {
	return []string{"NAME", "SERVER", "CONNECTION", "VERSION", "LATENCY", "KINDS", "APPLICATIONS", "CHECKED"}
}

func clusterRow(s agentapi.Setting) []string {
	row := []string{s.Fields["name"], s.Fields["server"], connectionText(s), unknown, unknown, unknown, unknown, unknown}
	if c := s.Connection; c != nil && !c.At.IsZero() {
		row[7] = noun.Ago(c.At, time.Now())
	}
	c := s.Cluster
	if c == nil {
		return row
	}
	if c.Off {
		row[2] = "Off"
	}
	if c.Kubernetes != "" {
		row[3] = iostream.Clean(c.Kubernetes)
	}
	if c.Latency > 0 {
		row[4] = strconv.FormatFloat(c.Latency, 'g', -1, 64) + " ms"
	}
	if c.Kinds > 0 {
		row[5] = strconv.Itoa(c.Kinds)
	}
	row[6] = strconv.Itoa(c.Applications)
	return row
}
