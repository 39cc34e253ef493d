package setting

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/retry"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/agent/command"
	"github.com/slipway-gitops/slipway/internal/agent/link"
	"github.com/slipway-gitops/slipway/internal/agent/place"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/integrity"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// fieldKnownHosts is the key of the ConfigMap of known hosts.
const fieldKnownHosts = "ssh_known_hosts"

// maxConfigMap bounds what a ConfigMap becomes; an API server takes 1 MiB.
const maxConfigMap = 1000 << 10

// sshEntry begins the names of known hosts, which are listed with the certificates.
const sshEntry = "ssh:"

// entryApply writes an entry of a ConfigMap: a certificate, known hosts, or a key.
func (v *keeper) entryApply(ctx context.Context, req agentapi.SettingChange) (any, error) {
	if len(req.Labels) > 0 {
		return nil, command.Refuse(agentapi.CodeInvalid, "a %s is an entry of a ConfigMap and has no labels: leave them out", req.Type)
	}
	if err := v.checkUnused(req, nil, nextData(nil, req)); err != nil {
		return nil, err
	}
	asked := req.Name
	config, names, edit, err := entryEdit(&req)
	if err != nil {
		return nil, err
	}
	if req.Update && req.Name != asked {
		return nil, command.Refuse(agentapi.CodeInvalid, "the entry is %.200s, not %.200s: names never change", req.Name, asked)
	}
	return v.entry(ctx, req, config, func(data map[string]string) error {
		items := itemsOf(config, data, "")
		var there []string
		for _, name := range names { // lines of known_hosts name several
			if _, ok := items[name]; ok {
				there = append(there, name)
			}
		}
		switch {
		case len(there) > 0 && req.Create:
			return command.Refuse(agentapi.CodeConflict, "%s %s exists already: leave it out, or replace it with upsert", req.Type, listed(there))
		case len(there) == 0 && req.Update:
			return command.Refuse(agentapi.CodeNotFound, "%s %s does not exist", req.Type, req.Name)
		}
		return edit(data)
	})
}

// listed names entries in a message: all of a few, else how many more there are.
func listed(names []string) string {
	const most = 10
	out := make([]string, 0, most)
	for _, name := range names[:min(len(names), most)] {
		out = append(out, fmt.Sprintf("%.200s", name))
	}
	if more := len(names) - most; more > 0 {
		out = append(out, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(out, ", ")
}

func (v *keeper) entryDelete(ctx context.Context, req agentapi.SettingChange) (any, error) {
	config := place.ConfigCertificate
	switch {
	case req.Type == agentapi.SettingGPGKey:
		config = place.ConfigGPGKeys
	case req.Type == agentapi.SettingKnownHost || strings.HasPrefix(req.Name, sshEntry):
		config = place.ConfigKnownHosts
	}
	return v.entry(ctx, req, config, func(data map[string]string) error {
		if _, there := itemsOf(config, data, "")[req.Name]; !there {
			return command.Refuse(agentapi.CodeNotFound, "%s %.200s does not exist", req.Type, req.Name)
		}
		if config == place.ConfigKnownHosts {
			data[fieldKnownHosts] = withoutHost(data[fieldKnownHosts], req.Name)
			return nil
		}
		delete(data, req.Name)
		return nil
	})
}

// itemsOf are the entries of a ConfigMap, as they are reported.
func itemsOf(config string, data map[string]string, version string) map[string][]byte {
	switch config {
	case place.ConfigKnownHosts:
		return link.KnownHosts(data[fieldKnownHosts], version)
	case place.ConfigGPGKeys:
		return link.GPGKeys(data, version)
	}
	return link.Certificates(data, version)
}

// entry changes a ConfigMap; what is not named stays in it. It is made where it is not there.
func (v *keeper) entry(ctx context.Context, req agentapi.SettingChange, config string, edit func(map[string]string) error) (any, error) {
	var got *unstructured.Unstructured
	var before map[string][]byte
	err := retry.OnError(retry.DefaultBackoff, func(err error) bool {
		return req.Version == "" && (apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err))
	}, func() error {
		have, err := v.config("configmaps").Get(ctx, config, metav1.GetOptions{})
		missing := apierrors.IsNotFound(err)
		if err != nil && !missing {
			return fmt.Errorf("read ConfigMap %s: %w", config, err)
		}
		if missing {
			have = &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "v1", "kind": "ConfigMap",
				"metadata": map[string]any{"name": config, "namespace": v.Namespace, "labels": map[string]any{
					"app.kubernetes.io/name": config, "app.kubernetes.io/part-of": "argocd",
				}},
			}}
		}
		if req.Version != "" && have.GetResourceVersion() != req.Version {
			return command.Refuse(agentapi.CodeConflict, "the ConfigMap %s has changed since version %s: read it again and repeat the change",
				config, req.Version)
		}
		data, _, err := unstructured.NestedStringMap(have.Object, "data")
		if err != nil {
			return command.Refuse(agentapi.CodeConflict, "the ConfigMap %s cannot be read: correct its data", config)
		}
		if data == nil {
			data = map[string]string{}
		}
		before = itemsOf(config, data, have.GetResourceVersion())
		if err := edit(data); err != nil {
			return err
		}
		size := 0
		for key, value := range data {
			size += len(key) + len(value)
		}
		if size > maxConfigMap {
			return command.Refuse(agentapi.CodeTooLarge, "the ConfigMap %s would have more than %d KiB: delete what is not used",
				config, maxConfigMap>>10)
		}
		if err := unstructured.SetNestedStringMap(have.Object, data, "data"); err != nil {
			return fmt.Errorf("change ConfigMap %s: %w", config, err)
		}
		if missing {
			got, err = v.config("configmaps").Create(ctx, have, metav1.CreateOptions{FieldManager: live.Manager, DryRun: command.DryRun(req.DryRun)})
		} else {
			got, err = v.config("configmaps").Update(ctx, have, metav1.UpdateOptions{FieldManager: live.Manager, DryRun: command.DryRun(req.DryRun)})
		}
		if err != nil {
			return fmt.Errorf("write ConfigMap %s: %w", config, err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	data, _, _ := unstructured.NestedStringMap(got.Object, "data")
	raw, there := itemsOf(config, data, got.GetResourceVersion())[req.Name]
	if !there {
		raw = before[req.Name] // it was deleted
	}
	var out agentapi.SettingResult
	if len(raw) > 0 {
		err = strict.Decode(raw, &out.Setting, strict.Foreign)
	}
	return out, err
}

// entryEdit checks what is to be written, and returns where, the names of all entries that are written, and how. It may correct
// the name of the request: the entry decides it.
func entryEdit(req *agentapi.SettingChange) (config string, names []string, edit func(map[string]string) error, err error) {
	switch {
	case req.Type == agentapi.SettingGPGKey:
		id, err := keyID(req.Fields["keyData"])
		if err != nil {
			return "", nil, nil, command.Refuse(agentapi.CodeInvalid,
				"keyData is no public key: %v: give what `gpg --armor --export ID` prints", err)
		}
		if req.Name != "" && !strings.HasSuffix(strings.ToUpper(req.Name), id) {
			return "", nil, nil, command.Refuse(agentapi.CodeInvalid, "the key is %s, not %.80s: name it by its id", id, req.Name)
		}
		req.Name = id
		return place.ConfigGPGKeys, []string{id}, func(data map[string]string) error { data[id] = req.Fields["keyData"]; return nil }, nil
	case req.Type == agentapi.SettingKnownHost || strings.HasPrefix(req.Name, sshEntry):
		lines, names, err := knownHosts(req.Fields)
		if err != nil {
			return "", nil, nil, err
		}
		switch {
		case req.Update && len(names) > 1:
			return "", nil, nil, command.Refuse(agentapi.CodeInvalid, "there are keys of %d names, and the change is about %.200s: "+
				"change them one by one", len(names), req.Name)
		case !slices.Contains(names, req.Name):
			req.Name = names[0]
		}
		return place.ConfigKnownHosts, names, func(data map[string]string) error {
			text := data[fieldKnownHosts]
			for _, name := range names {
				text = withoutHost(text, name)
			}
			if text != "" && !strings.HasSuffix(text, "\n") {
				text += "\n"
			}
			data[fieldKnownHosts] = text + strings.Join(lines, "\n") + "\n"
			return nil
		}, nil
	}
	host := req.Fields["serverName"]
	if host == "" {
		host = req.Name
	}
	if req.Name != "" && req.Name != host {
		return "", nil, nil, command.Refuse(agentapi.CodeInvalid,
			"the certificates are for %.80q, and the request is about %.80q: name it by its host", host, req.Name)
	}
	if req.Name = host; host == "" || strings.ContainsAny(host, "/: \t\r\n") {
		return "", nil, nil, command.Refuse(agentapi.CodeInvalid, "serverName %.80q is no host name", host)
	}
	if err := checkCertificates(req.Fields["certData"]); err != nil {
		return "", nil, nil, command.Refuse(agentapi.CodeInvalid, "certData: %v: give certificates as PEM", err)
	}
	return place.ConfigCertificate, []string{host}, func(data map[string]string) error { data[host] = req.Fields["certData"]; return nil }, nil
}

// checkCertificates makes sure that a text is certificates and nothing that must not be seen.
func checkCertificates(text string) error {
	count := 0
	for block, rest := pem.Decode([]byte(text)); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			return fmt.Errorf("it holds a %.40s", block.Type)
		}
		count++
	}
	if strings.Contains(text, "PRIVATE KEY") {
		return errors.New("it holds a private key")
	}
	if count == 0 {
		return errors.New("it holds no certificate")
	}
	return nil
}

// knownHosts reads lines of the file known_hosts, and returns the names by which they are reported.
func knownHosts(fields map[string]string) (lines, names []string, err error) {
	text := fields["data"]
	if text == "" && fields["serverName"] != "" {
		text = fields["serverName"] + " " + fields["certSubType"] + " " + fields["certData"]
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		own := link.KnownHosts(line, "")
		if len(own) == 0 || !hostKey(line) || strings.ContainsAny(line, "\r\x00") {
			return nil, nil, command.Refuse(agentapi.CodeInvalid,
				"%.80q is no line of known_hosts: give what `ssh-keyscan HOST` prints, in the field data", line)
		}
		lines = append(lines, line)
		for name := range own {
			names = append(names, name)
		}
	}
	if len(lines) == 0 {
		return nil, nil, command.Refuse(agentapi.CodeInvalid, "the field data is empty: give what `ssh-keyscan HOST` prints")
	}
	slices.Sort(names)
	return lines, slices.Compact(names), nil
}

// hostKey reports whether the key of a line of known_hosts is of the type that the line says.
func hostKey(line string) bool {
	fields := strings.Fields(line)
	if strings.HasPrefix(fields[0], "@") {
		fields = fields[1:]
	}
	if len(fields) < 3 {
		return false
	}
	raw, err := base64.StdEncoding.DecodeString(fields[2])
	if err != nil || len(raw) < 4 {
		return false
	}
	size := int64(binary.BigEndian.Uint32(raw))
	return size == int64(len(fields[1])) && strings.HasPrefix(string(raw[4:]), fields[1])
}

// withoutHost takes the entry of a name (ssh:HOST:TYPE) out of a file known_hosts. All other lines stay as they are.
func withoutHost(text, name string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		items := link.KnownHosts(line, "")
		if _, ok := items[name]; !ok {
			out.WriteString(line)
			continue
		}
		if len(items) == 1 {
			continue
		}
		// A line for several hosts: the others keep it.
		fields := strings.Fields(line)
		at := 0
		if strings.HasPrefix(fields[0], "@") {
			at = 1
		}
		var hosts []string
		for host := range strings.SplitSeq(fields[at], ",") {
			if sshEntry+host+":"+fields[at+1] != name {
				hosts = append(hosts, host)
			}
		}
		fields[at] = strings.Join(hosts, ",")
		out.WriteString(strings.Join(fields, " ") + "\n")
	}
	return out.String()
}

// keyID reads the id of an armored public key.
func keyID(text string) (string, error) {
	key, err := integrity.ReadKey(text, time.Now())
	return key.ID, err
}
