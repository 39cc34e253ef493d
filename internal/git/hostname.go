package git

import "net/url"

// Hostname is the host of the address without its port, "" for a local directory.
func (r Remote) Hostname() string {
	u, err := url.Parse(r.URL)
	if err != nil {
		return ""
	}
	return u.Hostname()
}
