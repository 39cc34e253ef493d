package security

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"
)

// letter is a request as it is written on a connection.
type letter struct {
	method, target, version string
	headers                 []string
	body                    string
	// raw is true for a body that has its own length in it.
	raw bool
}

// wire is what is done to a request on its way.
type wire struct {
	name   string
	change func(*letter)
	// refused is true for what no server may take; body for what is done to requests that have one; moved for what may lead to
	// another route, or to another object.
	refused, body, moved bool
}

func with(lines ...string) func(*letter) {
	return func(l *letter) { l.headers = append(l.headers, lines...) }
}

func typed(value string) func(*letter) {
	return func(l *letter) {
		for i, line := range l.headers {
			if strings.HasPrefix(line, "Content-Type:") {
				l.headers[i] = "Content-Type: " + value
			}
		}
	}
}

func packed(coding string, pack func(io.Writer) io.WriteCloser) func(*letter) {
	return func(l *letter) {
		var out bytes.Buffer
		w := pack(&out)
		_, _ = io.WriteString(w, l.body) // a buffer takes all
		_ = w.Close()
		l.body = out.String()
		l.headers = append(l.headers, "Content-Encoding: "+coding)
	}
}

// chunked is a body in chunks of a few bytes.
func chunked(l *letter) {
	var out strings.Builder
	for rest := l.body; rest != ""; {
		n := min(len(rest), 17)
		fmt.Fprintf(&out, "%x;x=y\r\n%s\r\n", n, rest[:n])
		rest = rest[n:]
	}
	l.body, l.raw = out.String()+"0\r\nX-Trailer: x\r\n\r\n", true
	l.headers = append(l.headers, "Transfer-Encoding: chunked")
}

// slashed writes the last slash of a path in another way.
func slashed(as string) func(*letter) {
	return func(l *letter) {
		path, query, has := strings.Cut(l.target, "?")
		at := strings.LastIndexByte(path, '/')
		if l.target = path[:at] + as + path[at+1:]; has {
			l.target += "?" + query
		}
	}
}

// ofWires are the ways to write a request that programs on its way could read as another one.
func ofWires() []wire {
	return []wire{
		{name: "in chunks", body: true, change: chunked},
		{name: "in chunks, with a length too", body: true, change: func(l *letter) {
			l.headers = append(l.headers, fmt.Sprint("Content-Length: ", len(l.body)/2))
			chunked(l)
		}},
		{name: "in chunks, said in two ways", body: true, refused: true, change: func(l *letter) { chunked(l); l.headers = append(l.headers, "Transfer-Encoding: identity") }},
		{name: "with another length", body: true, refused: true, change: func(l *letter) { l.headers = append(l.headers, fmt.Sprint("Content-Length: ", len(l.body)+1)) }},
		{name: "with a signed length", body: true, refused: true, change: func(l *letter) {
			l.raw, l.headers = true, append(l.headers, fmt.Sprint("Content-Length: +", len(l.body)))
		}},
		{name: "packed with gzip", body: true, refused: true, change: packed("gzip", func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) })},
		{name: "packed with deflate", body: true, refused: true, change: packed("deflate", func(w io.Writer) io.WriteCloser {
			out, _ := flate.NewWriter(w, flate.DefaultCompression) // the level is one
			return out
		})},
		{name: "said to be packed with br", body: true, refused: true, change: with("Content-Encoding: br")},
		{name: "said to be packed twice", body: true, refused: true, change: with("Content-Encoding: identity", "Content-Encoding: gzip")},
		{name: "in ISO 8859-1", body: true, refused: true, change: typed("application/json; charset=iso-8859-1")},
		{name: "in UTF-7", body: true, refused: true, change: typed(`application/json; charset="utf-7"`)},
		{name: "in UTF-8", body: true, change: typed("application/json; charset=UTF-8")},
		{name: "of two types", body: true, refused: true, change: with("Content-Type: text/plain")},
		{name: "of an unknown type", body: true, refused: true, change: typed("text/plain")},
		{name: "proven twice", change: with("Authorization: Bearer slp_wrong", "Authorization: Bearer slp_wrong"), refused: true},
		{name: "of two hosts", change: with("Host: evil.example"), refused: true},
		{name: "with a blank in a name", change: with("Authorization : Bearer slp_wrong"), refused: true},
		{name: "with a folded line", change: with("X-Note: a", " b")},
		{name: "with another method in two headers", change: with("X-Http-Method: DELETE", "X-Method-Override: PUT")},
		{name: "with another address in a header", change: with("X-Forwarded-Host: evil.example", "X-Rewrite-Url: /api/v1/organizations/"+theirOrg, "Forwarded: for=127.0.0.1;host=evil.example")},
		{name: "of HTTP/1.0", change: func(l *letter) { l.version = "HTTP/1.0" }},
		{name: "of HTTP/3.7", change: func(l *letter) { l.version = "HTTP/3.7" }, refused: true},
		{name: "to a whole address", change: func(l *letter) { l.target = "http://evil.example" + l.target }},
		{name: "to an address with a user", change: func(l *letter) { l.target = "http://admin:x@127.0.0.1" + l.target }},
		{name: "with a slash at the end", moved: true, change: func(l *letter) { l.target = strings.Replace(l.target+"?", "?", "/?", 1) }},
		{name: "with an encoded slash", moved: true, change: slashed("%2f")},
		{name: "with a slash the other way", moved: true, change: slashed("%5c")},
		{name: "with two slashes", moved: true, change: slashed("//")},
		{name: "with a fragment", moved: true, change: func(l *letter) { l.target += "#x" }},
		{name: "in lower case", change: func(l *letter) { l.method = strings.ToLower(l.method) }},
		{name: "by another method", change: func(l *letter) { l.method = "TRACE" }, refused: true},
	}
}

// String is what goes over the connection.
func (l *letter) String() string {
	out := l.method + " " + l.target + " " + l.version + "\r\n" + strings.Join(l.headers, "\r\n") + "\r\n"
	if !l.raw && l.body != "" {
		out += fmt.Sprintf("Content-Length: %d\r\n", len(l.body))
	}
	return out + "Connection: close\r\n\r\n" + l.body
}

// mail sends a request over a connection of its own, and gives the answer.
func (k *walk) mail(r *http.Request, body string, how wire) (*httptest.ResponseRecorder, error) {
	host := strings.TrimPrefix(k.url, "http://")
	l := &letter{method: r.Method, target: r.RequestURI, version: "HTTP/1.1", headers: []string{"Host: " + host}, body: body}
	for name, values := range r.Header {
		for _, value := range values {
			l.headers = append(l.headers, name+": "+value)
		}
	}
	how.change(l)
	conn, err := (&net.Dialer{}).DialContext(k.t.Context(), "tcp", host)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(limit)) // an error shows at the read
	if _, err := io.WriteString(conn, l.String()); err != nil {
		return nil, err
	}
	if how.name == "with another length" { // no more comes
		if tcp, is := conn.(*net.TCPConn); is {
			_ = tcp.CloseWrite() // an error shows at the read
		}
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), r)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	out := httptest.NewRecorder()
	out.Code = response.StatusCode
	for name, values := range response.Header {
		out.Header()[name] = values
	}
	_, err = io.Copy(out.Body, response.Body)
	return out, err
}

// unread is true for an answer of the library that reads requests: it is to none that a route could have answered.
func unread(out *httptest.ResponseRecorder) bool {
	return out.Code >= 400 && out.Header().Get("X-Request-Id") == "" && !strings.Contains(out.Header().Get("Content-Type"), "json") && out.Body.Len() < 200
}
