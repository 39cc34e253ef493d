package setting

import (
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/client"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
)

// Certificates, known hosts and GnuPG keys are public: nothing of them is sealed.

func newCertCmd(common *connect.Common) *cobra.Command {
	k := &kind{
		setting: agentapi.SettingCertificate, use: "cert", called: "certificate", example: "git.example.org", of: (*client.Client).Certificates,
		header: []string{"HOST", "TYPE", "KEY TYPE", "FINGERPRINT"},
		row: func(s agentapi.Setting) []string {
			return []string{s.Fields["serverName"], s.Fields["certType"], s.Fields["certSubType"], s.Fields["fingerprint"]}
		},
	}
	cmd := &cobra.Command{
		Use: "cert", Aliases: []string{"certs", "certificate"}, Short: "Certificates and SSH host keys of Git servers that agents trust",
		Example: "  slipway cert add-tls git.example.org --file ca.pem\n  ssh-keyscan git.example.org | slipway cert add-ssh " +
			"--file -\n  slipway cert list",
	}
	hosts := &kind{setting: agentapi.SettingKnownHost, use: "cert", called: "known host", of: (*client.Client).KnownHosts}
	cmd.AddCommand(k.list(common), k.get(common),
		newPublicCmd(common, k, "add-tls HOST", "Trust the certificates in a PEM file for a host", "certData",
			"  slipway cert add-tls git.example.org --file ca.pem",
			func(c *change, args []string) { c.name, c.public["serverName"] = args[0], args[0] }),
		newPublicCmd(common, hosts, "add-ssh", "Trust the host keys that ssh-keyscan prints", "data",
			"  ssh-keyscan git.example.org | slipway cert add-ssh --file -", func(c *change, _ []string) { c.name = "known-host" }),
		k.remove(common))
	return cmd
}

func newGPGCmd(common *connect.Common) *cobra.Command {
	k := &kind{
		setting: agentapi.SettingGPGKey, use: "gpg", called: "GnuPG key", example: "4AEE18F83AFDEB23", of: (*client.Client).GPGKeys,
		header: []string{"KEY", "OWNER", "TYPE", "EXPIRES", "FINGERPRINT"},
		row: func(s agentapi.Setting) []string {
			until := s.Fields["notAfter"]
			switch {
			case s.Fields["unusable"] != "":
				until = "unusable: " + s.Fields["unusable"]
			case s.Fields["revoked"] != "":
				until = "revoked"
			}
			return []string{s.Fields["keyID"], s.Fields["owner"], s.Fields["subType"], until, s.Fields["fingerprint"]}
		},
	}
	cmd := &cobra.Command{
		Use: "gpg", Short: "Public keys that agents verify signatures of commits and tags with",
		Long: "Public keys that agents verify signatures of commits and tags with, where an AppProject asks for them. A key counts for the\n" +
			"projects that name its id.",
		Example: "  gpg --armor --export 4AEE18F83AFDEB23 | slipway gpg add 4AEE18F83AFDEB23 --file -\n  slipway gpg list",
	}
	cmd.AddCommand(k.list(common), k.get(common),
		newPublicCmd(common, k, "add KEYID", "Add a public key to an agent", "keyData",
			"  gpg --armor --export 4AEE18F83AFDEB23 | slipway gpg add 4AEE18F83AFDEB23 --file -",
			func(c *change, args []string) { c.name = args[0] }),
		k.remove(common))
	return cmd
}

func newPublicCmd(common *connect.Common, k *kind, use, short, field, example string, name func(*change, []string)) *cobra.Command {
	c := change{Common: common}
	var file string
	args := cobra.NoArgs
	if use != "add-ssh" {
		args = cobra.ExactArgs(1)
	}
	cmd := &cobra.Command{
		Use: use, Short: short, Args: args, Example: example,
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := common.Secret("file", file)
			if err != nil {
				return err
			}
			if strings.ContainsRune(text, 0) || !utf8.ValidString(text) {
				return errors.New("the file is not text: give PEM, or what `gpg --armor --export ID` prints")
			}
			c.public = map[string]string{field: text + "\n"}
			name(&c, args)
			return c.create(cmd.Context(), k, c.name)
		},
	}
	cmd.Flags().StringVar(&file, "file", "-", "`file` to read, - for standard input")
	c.addFlags(cmd.Flags(), k)
	cmd.Flags().BoolVar(&c.upsert, "upsert", false, "update it if it exists")
	return cmd
}
