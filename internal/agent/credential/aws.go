package credential

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/slipway-gitops/slipway/internal/cloud"
)

const (
	eksPrefix = "k8s-aws-v1."
	// eksHeader binds a token to its cluster.
	eksHeader = "X-K8s-Aws-Id"
)

// eks makes tokens of a cluster of Amazon: a signed request to its token service, which the cluster sends there. env are variables of
// the Secret, which count before those of the agent.
func (m *Maker) eks(server string, in EKS, env map[string]string) (*cloud.Holder, error) {
	switch {
	case !regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$`).MatchString(in.ClusterName):
		return nil, errors.New("clusterName is missing, or is no name of an EKS cluster: give it")
	case in.Profile != "":
		return nil, errors.New("profile names an entry of a file that the agent does not have: give roleARN, and the agent a " +
			"role (IRSA or Pod Identity)")
	case in.RoleARN != "" && !regexp.MustCompile(`^arn:aws[a-z-]*:iam::\d{12}:role/[\w+=,.@/-]{1,512}$`).MatchString(in.RoleARN):
		return nil, errors.New("roleARN is no role: write arn:aws:iam::ACCOUNT:role/NAME")
	}
	known := []string{
		"AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN",
		"AWS_STS_REGIONAL_ENDPOINTS",
	}
	for name := range env {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("execProviderConfig.env has %.80q, which has no effect on the sign-in to AWS here: it may have %s", name,
				strings.Join(known, ", "))
		}
	}
	region := "" // that of the cluster itself, or of the environment
	if at := regexp.MustCompile(`\.([a-z0-9-]+)\.eks\.amazonaws\.com(\.cn)?(:\d+)?/?$`).FindStringSubmatch(server); at != nil {
		region = at[1]
	}
	identity, err := m.Keeper.AWS(region, env)
	if err != nil {
		return nil, err
	}
	return cloud.NewHolder(m.Keeper.Now, func(ctx context.Context) (cloud.Token, error) {
		address, ends, err := identity.Caller(ctx, in.RoleARN, http.Header{eksHeader: {in.ClusterName}})
		return cloud.Token{Secret: eksPrefix + base64.RawURLEncoding.EncodeToString([]byte(address)), Ends: ends}, err
	}), nil
}
