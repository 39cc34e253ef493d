package cause

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// lately is how recent the end of a container is that runs again, for its restarts to be a fault.
const (
	lately = 10 * time.Minute
	often  = 3
)

// container finds what fails in one container; nil where nothing does.
func (s *scene) container(b *Branch, c container) *fault {
	state := object.Dict(c.status, "state")
	waiting, ended := object.Dict(state, "waiting"), object.Dict(state, "terminated")
	last := object.Dict(object.Dict(c.status, "lastState"), "terminated")
	switch reason := object.Text(waiting, "reason"); {
	case reason == "CrashLoopBackOff":
		return s.crash(b, &c, last)
	case strings.Contains(reason, "Image") || reason == "RegistryUnavailable":
		return s.image(b, &c, waiting)
	case reason == "CreateContainerConfigError":
		return s.config(b, &c, waiting)
	case waiting != nil && reason != "" && reason != "ContainerCreating" && reason != "PodInitializing":
		return s.start(b, &c, reason, object.Text(waiting, "message"))
	case waiting != nil && last != nil:
		return s.crash(b, &c, last) // between two runs
	case ended != nil:
		forever := object.Text(object.Dict(b.Object, "spec"), "restartPolicy")
		if object.Count(ended, "exitCode") != 0 || !c.first && !c.extra && (forever == "Always" || forever == "") {
			return s.crash(b, &c, ended)
		}
		return nil
	case object.Dict(state, "running") != nil:
		return s.running(b, &c, last)
	}
	return nil
}

// image says why the image of a container is not there.
func (s *scene) image(b *Branch, c *container, waiting map[string]any) *fault {
	f := s.faultOf(b, c, ImagePull, stopped)
	says, reason := object.Text(waiting, "message"), object.Text(waiting, "reason")
	told := b.last(c.about(func(e *Event) bool {
		return e.Reason == "Failed" && strings.Contains(e.Message, "pull") || e.Reason == "InspectFailed" || e.Reason == "ErrImageNeverPull"
	}))
	if told != nil {
		says, f.Since = told.Message, told.First
		f.evidence(told.evidence(b))
	}
	if f.Since.IsZero() {
		f.Since = conditionOf(b.Object, "ContainersReady").since
	}
	if says == "" {
		says = "pull: " + reason
	}
	image := object.Text(c.spec, "image")
	what, next := "cannot be pulled: "+says, "correct the image in Git and push"
	low := strings.ToLower(says)
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(low, w) {
				return true
			}
		}
		return false
	}
	switch {
	case reason == "InvalidImageName":
		f.Code, what = ImageMissing, "is no valid name of an image"
	case reason == "ErrImageNeverPull":
		f.Code, what, next = ImageMissing, "is not on the node, and imagePullPolicy is Never", "load the image onto the node, "+
			"or correct imagePullPolicy in Git"
	case has("toomanyrequests", "too many requests", "rate limit", " 429"):
		what, next = "cannot be pulled: the registry limits how often", "add credentials of the registry (imagePullSecrets), "+
			"or pull through a mirror"
	case has("unauthorized", "authentication required", "403 forbidden", "access denied", "access forbidden", "no basic auth",
		"may require 'docker login'", "insufficient_scope"):
		f.Code, what, next = ImageRefused, "cannot be pulled: the registry refuses access, or has no such repository",
			"check the name of the image, and imagePullSecrets of the pod or its service account"
	case has("no match for platform", "no matching manifest"):
		f.Code, what, next = ImageMissing, "has no build for the platform of the node", "push a build for the platform, "+
			"or choose nodes with nodeSelector kubernetes.io/arch"
	case has("x509", "certificate"):
		what, next = "cannot be pulled: the node does not trust the certificate of the registry",
			"install the authority of the registry on the nodes"
	case has("no such host", "connection refused", "i/o timeout", "dial tcp", "no route to host", "network is unreachable",
		"deadline exceeded", "server misbehaving"):
		what, next = "cannot be pulled: the node does not reach the registry", "check the host in the name of the image, "+
			"and the network and DNS of the node"
	case has("not found", "manifest unknown", "does not exist", "name unknown"):
		f.Code, what = ImageMissing, "does not exist in the registry"
	case !has("pull"):
		what = "cannot be used: " + says
	}
	f.What = fmt.Sprintf("%s cannot start: image %s %s", c.of(b), image, what)
	f.Next = next + "; " + s.describe(b)
	f.evidence(c.evidence(b)...)
	f.evidence(spec(b, "image: %s", image))
	return f
}

var (
	absentPattern = regexp.MustCompile(`(?i)\b(secret|configmap|persistentvolumeclaim|serviceaccount) "?([^"\s]+)"? not found`)
	keyPattern    = regexp.MustCompile(`couldn't find key (\S+) in (Secret|ConfigMap) (\S+)|references non-existent (?:secret|config) key: (\S+)`)
)

// absent says which object a message misses; "" for none.
func absent(message string) string {
	if m := absentPattern.FindStringSubmatch(message); m != nil {
		kind := map[string]string{
			"secret": "Secret", "configmap": "ConfigMap", "persistentvolumeclaim": "PersistentVolumeClaim", "serviceaccount": "ServiceAccount",
		}[strings.ToLower(m[1])]
		return kind + " " + m[2] + " does not exist"
	}
	switch m := keyPattern.FindStringSubmatch(message); {
	case m == nil:
		return ""
	case m[4] != "":
		return "it names the key " + m[4] + ", which is not there"
	default:
		return m[2] + " " + m[3] + " has no key " + m[1]
	}
}

// config says which part of its configuration a container lacks.
func (s *scene) config(b *Branch, c *container, waiting map[string]any) *fault {
	f := s.faultOf(b, c, Config, stopped)
	message := object.Text(waiting, "message")
	what, next := absent(message), "commit it, or correct the container that names it"
	if what == "" {
		what, next = message, "correct the container in Git and push"
	}
	if strings.Contains(message, "runAsNonRoot") {
		what, next = "its image runs as root, and runAsNonRoot forbids it", "set securityContext.runAsUser in Git, "+
			"or build the image with a USER that is a number"
	}
	f.What, f.Next = c.of(b)+" cannot start: "+what, next+"; "+s.describe(b)
	if told := b.last(c.about(reasons("Failed"))); told != nil {
		f.Since = told.First
		f.evidence(told.evidence(b))
	}
	f.evidence(c.evidence(b)...)
	return f
}

// start says why the node cannot start a container.
func (s *scene) start(b *Branch, c *container, reason, message string) *fault {
	f := s.faultOf(b, c, ContainerStart, stopped)
	next := "correct command and args in Git and push"
	what := joined(reason, message)
	switch {
	case strings.Contains(message, "executable file not found") || strings.Contains(message, "no such file or directory"):
		what = "its command does not exist in the image: " + message
	case strings.Contains(message, "permission denied"):
		what = "its command may not be executed: " + message
	case reason == "PostStartHookError":
		what, next = "its postStart hook fails: "+message, "correct lifecycle.postStart in Git and push"
	}
	f.What, f.Next = c.of(b)+" cannot start: "+what, next+"; "+s.describe(b)
	if told := b.last(c.about(reasons("Failed", "FailedPostStartHook"))); told != nil {
		f.Since = told.First
		f.evidence(told.evidence(b))
	}
	f.evidence(c.evidence(b)...)
	return f
}

// crash says how a container ended that is to run.
func (s *scene) crash(b *Branch, c *container, ended map[string]any) *fault {
	f := s.faultOf(b, c, Crash, stopped)
	f.Since = moment(ended, "finishedAt")
	if ended == nil {
		ended = map[string]any{}
	}
	again := ""
	if c.restarts > 0 {
		again = ", and was restarted " + times(c.restarts)
	}
	code, reason, message := object.Count(ended, "exitCode"), object.Text(ended, "reason"), object.Text(ended, "message")
	f.Log = &api.FindingLog{Note: NotAsked}
	f.Next = s.logs(b, c.name, false) + "; fix the program or its configuration, and push"
	probe := s.probed(b, c, "Liveness", "Startup")
	switch {
	case reason == "OOMKilled":
		f.Code = OutOfMemory
		limit := object.Text(object.Dict(object.Dict(c.spec, "resources"), "limits"), "memory")
		if limit == "" {
			f.What = c.of(b) + " was killed because its node ran out of memory" + again
			f.Next = "set a memory request and limit in Git that the program keeps to; " + s.logs(b, c.name, false)
			break
		}
		f.What = c.of(b) + " was killed because it used more than its memory limit of " + limit + again
		f.Next = "raise resources.limits.memory in Git, or have the program use less; " + s.logs(b, c.name, false)
		f.evidence(spec(b, "container %s, resources.limits.memory: %s", c.name, limit))
	case probe != nil:
		s.killed(b, c, f, probe, again)
	case reason == "ContainerCannotRun" || reason == "StartError" || code >= 126 && code <= 128 && message != "":
		f = s.start(b, c, reason, message)
		f.Restarts = c.restarts
		return f
	case reason == "DeadlineExceeded":
		f.Code, f.What = Deadline, c.of(b)+" was ended at the deadline of its pod"
	case code == 0 && len(ended) > 0:
		f.Code, f.What = Exit, c.of(b)+" exits with code 0"+again+"; a pod of this kind has to go on running"
		f.Next = "correct its command, or run it as a Job; " + s.logs(b, c.name, false)
	case len(ended) == 0:
		f.What = c.of(b) + " crashes again and again" + again
	default:
		f.What = c.of(b) + " crashes: " + endOf(ended) + again
		if c.first {
			f.What = c.of(b) + " fails: " + endOf(ended) + again
		}
	}
	f.evidence(c.evidence(b)...)
	f.evidence(s.told(b, c.about(reasons("BackOff")))...)
	return f
}

// NotAsked is why a finding has no lines of a log.
const NotAsked = "not asked for"

// killed says that a probe has a container restarted.
func (s *scene) killed(b *Branch, c *container, f *fault, probe *Event, again string) {
	kind, which := LivenessProbe, "liveness"
	if strings.HasPrefix(probe.Message, "Startup") {
		kind, which = StartupProbe, "startup"
	}
	f.Code = kind
	f.What = fmt.Sprintf("%s is killed because its %s probe fails: %s%s", c.of(b), which, probeSays(probe.Message), again)
	f.Next = fmt.Sprintf("correct %sProbe in Git, or give the program more time; %s", which, s.logs(b, c.name, false))
	f.evidence(probe.evidence(b))
	if e := b.last(c.about(reasons("Killing"))); e != nil {
		f.evidence(e.evidence(b))
	}
}

// probed finds the newest Event about a failed probe of a container that had it killed.
func (s *scene) probed(b *Branch, c *container, kinds ...string) *Event {
	kill := b.last(c.about(func(e *Event) bool { return e.Reason == "Killing" && strings.Contains(e.Message, "probe") }))
	if kill == nil {
		return nil
	}
	return b.last(c.about(func(e *Event) bool {
		for _, kind := range kinds {
			if e.Reason == "Unhealthy" && strings.HasPrefix(e.Message, kind+" probe") {
				return true
			}
		}
		return false
	}))
}

// probeSays is the message of a failed probe without its beginning.
func probeSays(message string) string {
	if _, rest, ok := strings.Cut(message, ": "); ok {
		return strings.TrimSpace(rest)
	}
	return message
}

// running finds what is wrong with a container that runs: a probe that fails, or restarts.
func (s *scene) running(b *Branch, c *container, last map[string]any) *fault {
	ended := moment(last, "finishedAt")
	if c.restarts > 0 && s.now.Sub(ended) < lately && (c.restarts >= often || !object.Flag(c.status, "ready")) {
		f := s.crash(b, c, last)
		if f.Log != nil {
			f.Log.Previous = true
			f.Next = strings.Replace(f.Next, s.logs(b, c.name, false), s.logs(b, c.name, true), 1)
		}
		if object.Flag(c.status, "ready") {
			f.weight = min(f.weight, unready)
		}
		return f
	}
	if object.Flag(c.status, "ready") || c.extra {
		return nil
	}
	began := moment(object.Dict(object.Dict(c.status, "state"), "running"), "startedAt")
	e := b.last(c.about(func(e *Event) bool {
		return e.Reason == "Unhealthy" && !strings.HasPrefix(e.Message, "Liveness")
	}))
	if e == nil {
		f := s.faultOf(b, c, Starting, minor)
		f.What, f.Since = c.of(b)+" runs and is not ready yet", began
		if c.first {
			f.What = c.of(b) + " runs, and the other containers wait for it"
		}
		f.Log = &api.FindingLog{Note: NotAsked}
		f.Next = "wait; " + s.logs(b, c.name, false)
		return f
	}
	kind, which := ReadinessProbe, "readiness"
	if strings.HasPrefix(e.Message, "Startup") {
		kind, which = StartupProbe, "startup"
	}
	f := s.faultOf(b, c, kind, unready)
	f.Since = began
	f.What = fmt.Sprintf("%s runs but is not ready: its %s probe fails: %s", c.of(b), which, probeSays(e.Message))
	f.Next = fmt.Sprintf("%s; fix what the probe asks for, or correct %sProbe in Git", s.logs(b, c.name, false), which)
	f.Log = &api.FindingLog{Note: NotAsked}
	f.evidence(e.evidence(b))
	f.evidence(c.evidence(b)...)
	return f
}

// endOf says how a container ended.
func endOf(ended map[string]any) string {
	code, signal := object.Count(ended, "exitCode"), object.Count(ended, "signal")
	if signal == 0 && code > 128 && code < 160 {
		signal = code - 128
	}
	out := fmt.Sprintf("exit code %d", code)
	name := map[int64]string{
		1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 6: "SIGABRT, it ended itself", 7: "SIGBUS", 8: "SIGFPE",
		9:  "SIGKILL, something killed it",
		11: "SIGSEGV, it accessed memory that is not its own", 13: "SIGPIPE", 15: "SIGTERM, it was asked to end",
	}[signal]
	switch {
	case name != "":
		out += " (" + name + ")"
	case signal != 0:
		out += fmt.Sprintf(" (signal %d)", signal)
	case code == 126:
		out += " (its command cannot be executed)"
	case code == 127:
		out += " (its command was not found)"
	}
	return out
}
