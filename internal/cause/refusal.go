package cause

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/slipway-gitops/slipway/api"
)

// Denial is why an API server did not take an object.
type Denial struct {
	Code string // Refused where its message says nothing that is known here
	What string // without the object
	Next string
}

// denial is a form of messages, and what it says.
type denial struct {
	form *regexp.Regexp
	say  func(m []string) Denial
}

// Refusal reads the message with which an API server refused an object. What it says is not cleaned.
func Refusal(message string) Denial {
	if len(message) > maxRaw {
		message = message[:maxRaw]
	}
	for _, d := range denials() {
		if m := d.form.FindStringSubmatch(message); m != nil {
			return d.say(m)
		}
	}
	return Denial{Code: Refused, What: strings.TrimPrefix(message, "Error creating: "), Next: "correct what the message names"}
}

var (
	quotaPattern     = regexp.MustCompile(`exceeded quota: ([^,]+), requested: (.+?), used: (.+?), limited: (.+)`)
	quotaMustPattern = regexp.MustCompile(`failed quota: ([^:]+): must specify (.+)`)
	webhookPattern   = regexp.MustCompile(`admission webhook "([^"]+)" denied the request(?:: |\.)?(.*)`)
	silentPattern    = regexp.MustCompile(`failed calling webhook "([^"]+)": (.+)`)
	securityPattern  = regexp.MustCompile(`violates PodSecurity "([^"]+)": (.+)`)
	policyPattern    = regexp.MustCompile(`ValidatingAdmissionPolicy '([^']+)'(?: with binding '[^']+')? denied request: (.+)`)
	rangePattern     = regexp.MustCompile(`((?:minimum|maximum) .+ usage per .+|.+ max limit to request ratio per .+)`)
	accountPattern   = regexp.MustCompile(`error looking up service account ([^:]+): serviceaccount "([^"]+)" not found`)
	priorityPattern  = regexp.MustCompile(`no PriorityClass with name (\S+) was found`)
	runtimePattern   = regexp.MustCompile(`RuntimeClass "([^"]+)" not found`)
	rightsPattern    = regexp.MustCompile(`User "([^"]+)" cannot (\S+) resource "([^"]+)"`)
	spacePattern     = regexp.MustCompile(`namespaces? "([^"]+)" not found`)
	endingPattern    = regexp.MustCompile(`unable to create new content in namespace (\S+) because it is being terminated`)
	fixedPattern     = regexp.MustCompile(`(?:field is immutable|[Uu]pdates to .+ are forbidden|may not be changed|cannot be changed)`)
)

// denials are the forms of messages, the most special first.
func denials() []denial {
	return []denial{
		{quotaPattern, func(m []string) Denial {
			return Denial{
				Quota, fmt.Sprintf("ResourceQuota %s is used up: requested %s, used %s, limit %s", m[1], m[2], m[3], m[4]),
				"raise the quota, lower what is asked for in Git, or delete what is not needed",
			}
		}},
		{quotaMustPattern, func(m []string) Denial {
			return Denial{
				Quota, fmt.Sprintf("ResourceQuota %s wants every container to set %s", m[1], m[2]),
				"set resources of every container in Git, or make a LimitRange with defaults",
			}
		}},
		{webhookPattern, func(m []string) Denial {
			what := "the admission webhook " + m[1] + " refused it"
			if m[2] != "" {
				what += ": " + m[2]
			}
			return Denial{Webhook, what, "commit what the webhook asks for, or have its policy changed"}
		}},
		{silentPattern, func(m []string) Denial {
			return Denial{
				NoAnswer, "the admission webhook " + m[1] + " does not answer: " + m[2],
				"look at the Service and the pods of the webhook: until it answers, nothing that it is asked about can be created",
			}
		}},
		{securityPattern, func(m []string) Denial {
			return Denial{
				Admission, "the pod security level " + m[1] + " of its namespace forbids it: " + m[2],
				"set the securityContext in Git that the message asks for, or change the label pod-security.kubernetes.io/enforce of the namespace",
			}
		}},
		{policyPattern, func(m []string) Denial {
			return Denial{
				Admission, "the ValidatingAdmissionPolicy " + m[1] + " refused it: " + m[2], "commit what the policy asks for, or have it changed",
			}
		}},
		{accountPattern, func(m []string) Denial {
			return Denial{Config, "ServiceAccount " + m[2] + " does not exist", "commit the ServiceAccount, or correct serviceAccountName"}
		}},
		{priorityPattern, func(m []string) Denial {
			return Denial{Config, "PriorityClass " + m[1] + " does not exist", "commit the PriorityClass, or correct priorityClassName"}
		}},
		{runtimePattern, func(m []string) Denial {
			return Denial{Config, "RuntimeClass " + m[1] + " does not exist", "commit the RuntimeClass, or correct runtimeClassName"}
		}},
		{rangePattern, func(m []string) Denial {
			return Denial{LimitRange, "a LimitRange of its namespace forbids it: " + m[1], "correct resources in Git, or change the LimitRange"}
		}},
		{endingPattern, func(m []string) Denial {
			return Denial{Refused, "namespace " + m[1] + " is being deleted", "wait until the namespace is gone, and sync again"}
		}},
		{rightsPattern, func(m []string) Denial {
			return Denial{Refused, fmt.Sprintf("%s may not %s %s", m[1], m[2], m[3]), "give this account the right with a Role and a RoleBinding"}
		}},
		{spacePattern, func(m []string) Denial {
			return Denial{
				Refused, "namespace " + m[1] + " does not exist",
				"commit the namespace, or set the sync option CreateNamespace=true where it is the one of spec.destination",
			}
		}},
		{fixedPattern, func(m []string) Denial {
			return Denial{
				Refused, "it changes a field that cannot be changed",
				"undo the change in Git, or have the object made again: annotation argocd.argoproj.io/sync-options: Replace=true,Force=true",
			}
		}},
	}
}

// sorted are the keys of a map in order.
func sorted(m map[string]any) []string {
	out := make([]string, 0, len(m))
	for key := range m {
		out = append(out, key)
	}
	slices.Sort(out)
	return out
}

// Denied is the finding about an object that an API server refused with a message.
func Denied(of api.ObjectName, d Denial, message string) api.Finding {
	out := api.Finding{
		Code: d.Code, Of: of, Object: of, What: spoken(of.Kind, of.Namespace, of.Name) + " cannot be applied: " + d.What, Next: d.Next,
		Evidence: []api.Evidence{{Object: of, Source: api.EvidenceStatus, Text: message}},
	}
	clean(&out)
	return out
}
