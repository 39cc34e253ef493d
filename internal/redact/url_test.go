package redact

import "testing"

func TestURLsLoseUserAndQuery(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"fetch https://ada:pw@git.example.org/shop.git: denied":         "fetch https://git.example.org/shop.git: denied",
		"https://token@git.example.org/shop?access=1#x":                 "https://git.example.org/shop",
		"ssh://git@git.example.org:22/shop":                             "ssh://git.example.org:22/shop",
		"https://ada:p/w@git.example.org/shop":                          "https://git.example.org/shop",
		"https://ada:p?w#x@git.example.org/shop":                        "https://git.example.org/shop",
		"https://ada:p@w@git.example.org/shop":                          "https://git.example.org/shop",
		"'https://a:b@x.example/?q=1' and \"https://y.example/a@v1.2\"": "'https://x.example/' and \"https://y.example/a@v1.2\"",
		"https://[::1]:8443/a@b":                                        "https://[::1]:8443/a@b",
		"https://y.example:8443/a@b":                                    "https://y.example:8443/a@b",
		"no address: a@b":                                               "no address: a@b",
	} {
		if got := URLs(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
		if again := URLs(want); again != want {
			t.Errorf("%q became %q the second time", want, again)
		}
	}
}
