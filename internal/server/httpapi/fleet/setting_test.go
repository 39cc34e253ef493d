package fleet

import (
	"net/url"
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
)

// What passes as a setting has no secret outside of the seal.
func FuzzSettingFields(f *testing.F) {
	f.Add("shop", "url", "https://git.example/x", "QUJD")
	f.Add("", "Password", "x", "")
	f.Add("a/b", "url", "https://u:p@h/", "=")
	f.Add("\x00", "url", "ssh://u:p@h", "QUJD\n")
	f.Fuzz(func(t *testing.T, name, field, value, sealed string) {
		for _, n := range (&SettingRoutes{}).settingNouns() {
			w := &api.SettingWrite{Name: name, Fields: map[string]string{field: value}, Sealed: api.Sealed(sealed)}
			if n.check(w) != nil {
				continue
			}
			if w.Name == "" || len(w.Name) > 253 || strings.ContainsAny(w.Name, "/ \t\r\n\x00") {
				t.Errorf("%s: the name is %q", n.called, w.Name)
			}
			if u, err := url.Parse(value); err == nil && u.User != nil && u.Host != "" {
				if password, has := u.User.Password(); has {
					t.Errorf("%s: field %q holds the password %q", n.called, field, password)
				}
			}
			if low := strings.ToLower(field); low == "password" && n.setting == agentapi.SettingRepository {
				t.Errorf("%s: field %q is not sealed", n.called, field)
			}
		}
	})
}
