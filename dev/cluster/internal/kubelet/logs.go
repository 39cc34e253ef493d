package kubelet

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// stampLayout is how a log shows times: RFC 3339 with all nine digits.
const stampLayout = "2006-01-02T15:04:05.000000000Z07:00"

// errFull ends a log that has sent as much as was requested.
var errFull = errors.New("the limit is reached")

// logRequest is what a client requests of a log.
type logRequest struct {
	follow, previous, timestamps bool
	errorsOnly                   bool  // of the error stream, on which no container says anything
	tail, bytes                  int64 // negative: all
	since                        time.Time
}

func readLogRequest(query url.Values, now time.Time) (logRequest, error) {
	q := logRequest{tail: -1, bytes: -1, errorsOnly: query.Get("stream") == string(corev1.LogStreamStderr)}
	for name, to := range map[string]*bool{"follow": &q.follow, "previous": &q.previous, "timestamps": &q.timestamps} {
		if text := query.Get(name); text != "" {
			value, err := strconv.ParseBool(text)
			if err != nil {
				return q, fmt.Errorf("%s must be true or false, not %q", name, text)
			}
			*to = value
		}
	}
	seconds := int64(-1)
	for name, to := range map[string]*int64{"tailLines": &q.tail, "limitBytes": &q.bytes, "sinceSeconds": &seconds} {
		if text := query.Get(name); text != "" {
			value, err := strconv.ParseInt(text, 10, 64)
			if err != nil || value < 0 {
				return q, fmt.Errorf("%s must be a number from 0, not %q", name, text)
			}
			*to = value
		}
	}
	if seconds >= 0 {
		q.since = now.Add(-time.Duration(min(seconds, int64(time.Duration(1<<62)/time.Second))) * time.Second)
	}
	if text := query.Get("sinceTime"); text != "" {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return q, fmt.Errorf("sinceTime must be a time such as 2026-01-31T12:00:00Z, not %q", text)
		}
		q.since = at
	}
	return q, nil
}

// chosen returns those lines of a log that are asked for.
func (q logRequest) chosen(lines []line) []line {
	var out []line
	for _, l := range lines {
		if !q.errorsOnly && !l.at.Before(q.since) {
			out = append(out, l)
		}
	}
	return out
}

// logWriter writes lines, up to the limit in bytes.
type logWriter struct {
	q  logRequest
	to io.Writer
	// flush sends what was written.
	flush func() error
}

func (w *logWriter) write(lines []line) error {
	for _, l := range lines {
		text := l.text + "\n"
		if w.q.timestamps {
			text = l.at.UTC().Format(stampLayout) + " " + text
		}
		full := w.q.bytes >= 0 && int64(len(text)) >= w.q.bytes
		if full {
			text = text[:w.q.bytes]
		}
		if w.q.bytes >= 0 {
			w.q.bytes -= int64(len(text))
		}
		if _, err := io.WriteString(w.to, text); err != nil {
			return err
		}
		if full {
			return errors.Join(errFull, w.flush())
		}
	}
	return w.flush()
}

// logs answers with the log of a container. With follow it goes on until the
// container has ended or the pod is gone.
func (n *node) logs(w http.ResponseWriter, r *http.Request) {
	q, err := readLogRequest(r.URL.Query(), n.now())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	pod, status := n.pod(w, r)
	if pod == nil {
		return
	}
	life, err := spanOf(pod, status, q.previous)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "text/plain")
	out := &logWriter{q: q, to: w, flush: http.NewResponseController(w).Flush}
	container := status.Name
	told := said(pod, container, life.annotation)
	lines := q.chosen(dated(told, life.began))
	if q.tail >= 0 {
		lines = lines[max(0, len(lines)-int(min(q.tail, int64(len(lines))))):]
	}
	if out.write(lines) != nil || !q.follow || life.ended {
		return // a reader that has left is no error
	}
	_ = n.follow(r.Context(), pod, func(pod *corev1.Pod) (bool, error) { // the reader sees its end
		now := said(pod, container, life.annotation)
		news := fresh(told, now)
		told = now
		if err := out.write(q.chosen(dated(news, n.now()))); err != nil {
			return true, err
		}
		status := statusOf(pod, container)
		return status == nil || status.State.Running == nil, nil
	})
}
