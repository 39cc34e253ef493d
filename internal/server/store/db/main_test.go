package db_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/slipway-gitops/slipway/internal/testenv"
)

func TestMain(m *testing.M) {
	if task := os.Getenv(childEnv); task != "" {
		fmt.Fprintln(os.Stderr, child(task))
		os.Exit(1)
	}
	testenv.Main(m)
}
