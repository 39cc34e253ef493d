package testenv

import (
	"net"
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
