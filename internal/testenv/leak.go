package testenv

import (
	"fmt"
	"net/http"
	"os"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// leakLimit bounds the wait for goroutines to end, long enough for a busy machine.
const leakLimit = time.Minute

// transports are those of the configurations that tests were given.
var transports struct { //nolint:gochecknoglobals // the check belongs to the process as a whole
	sync.Mutex
	all []http.RoundTripper
}

func closeLater(t http.RoundTripper) {
	transports.Lock()
	defer transports.Unlock()
	transports.all = append(transports.all, t)
}

// Main runs the tests of a package and ends the process: with an error where one failed, or goroutines are left over.
func Main(m *testing.M) {
	code := m.Run()
	if code == 0 {
		if err := Leaked(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// Leaked waits until no goroutine but the caller's is left, and returns what is left after a minute. A connection whose last
// stream was being closed when its test ended was not idle then: those of clients are closed at each look.
func Leaked() error {
	var err error
	for end := time.Now().Add(leakLimit); time.Now().Before(end); {
		transports.Lock()
		for _, t := range transports.all {
			utilnet.CloseIdleConnectionsFor(t)
		}
		transports.Unlock()
		if err = goleak.Find(); err == nil { // it looks for a short while, which is for a quiet machine
			return nil
		}
	}
	return err
}
