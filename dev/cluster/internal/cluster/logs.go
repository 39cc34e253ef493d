package cluster

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"log"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"gopkg.in/natefinch/lumberjack.v2"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/slipway-gitops/slipway/dev/cluster/internal/layout"
)

// logs are the log files of the components: at most 3 files of 20 MB for each.
type logs struct {
	kubernetes, etcd, node *lumberjack.Logger
}

// openLogs sends what the components say to files in dir. The Kubernetes
// components share one logger, and it belongs to the process.
func openLogs(dir *layout.Dir) (*logs, error) {
	file := func(name string) *lumberjack.Logger {
		return &lumberjack.Logger{Filename: dir.Log(name), MaxSize: 20, MaxBackups: 2}
	}
	l := &logs{kubernetes: file("kubernetes"), etcd: file("etcd"), node: file("kwok")}

	flags := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(flags)
	for _, setting := range [][2]string{
		{"logtostderr", "false"}, {"alsologtostderr", "false"}, {"stderrthreshold", "FATAL"}, {"one_output", "true"},
	} {
		if err := flags.Set(setting[0], setting[1]); err != nil {
			return nil, fmt.Errorf("set up logging: %w", err)
		}
	}
	klog.SetOutput(l.kubernetes)
	log.SetOutput(l.kubernetes)
	rest.SetDefaultWarningHandler(rest.NoWarnings{})
	return l, nil
}

// etcdLogger returns the logger for etcd, which says little when all is well.
func (l *logs) etcdLogger() *zap.Logger {
	encoder := zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig())
	return zap.New(zapcore.NewCore(encoder, zapcore.AddSync(l.etcd), zap.WarnLevel))
}

// Close writes out and closes the files.
func (l *logs) Close() error {
	klog.Flush()
	klog.SetOutput(io.Discard)
	log.SetOutput(io.Discard)
	return errors.Join(l.kubernetes.Close(), l.etcd.Close(), l.node.Close())
}
