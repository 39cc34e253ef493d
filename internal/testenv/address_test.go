package testenv

import (
	"net"
	"strconv"
	"testing"
)

func TestAnAddressIsGivenOnce(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 300 {
		address := Address(t)
		if seen[address] {
			t.Fatalf("%s was given twice", address)
		}
		seen[address] = true
	}
	for address := range seen {
		l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestAnAddressIsFreeAfterItsTest(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first, err := reserve(dir + "/1")
	if err != nil || first == nil {
		t.Fatalf("a port that nobody has: %v, %v", first, err)
	}
	if second, err := reserve(dir + "/1"); err != nil || second != nil {
		t.Fatalf("a port that somebody has: %v, %v", second, err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := reserve(dir + "/1")
	if err != nil || again == nil {
		t.Fatalf("a port that was given back: %v, %v", again, err)
	}
	_ = again.Close()
}

func TestAddressesAreNotThoseThatConnectionsGoOutFrom(t *testing.T) {
	t.Parallel()
	for said, want := range map[string][2]int{
		"32768\t60999\n": {20000, 31999}, "": {20000, 31999}, "49152\t65535\n": {20000, 31999},
		"15000\t64999\n": {5000, 14999}, "28000\t65535": {16000, 27999}, "1024\t60999\n": {61000, 65535}, "1024\t65535\n": {20000, 31999},
	} {
		if first, last := portsOf(said); first != want[0] || last != want[1] {
			t.Errorf("where connections go out from %q, addresses are %d to %d, not %v", said, first, last, want)
		}
	}
}

func TestAPortOnWhichSomebodyListensIsNotUnused(t *testing.T) {
	t.Parallel()
	_, text, err := net.SplitHostPort(Address(t))
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	if !unused(port) {
		t.Error("a port on which nobody listens is in use")
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", net.JoinHostPort("127.0.0.1", text))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if unused(port) {
		t.Error("a port on which somebody listens is unused")
	}
}
