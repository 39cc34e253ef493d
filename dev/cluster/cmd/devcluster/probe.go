package main
import (
 _ "k8s.io/kubernetes/cmd/kube-apiserver/app"
 _ "k8s.io/kubernetes/cmd/kube-controller-manager/app"
 _ "k8s.io/kubernetes/cmd/kube-scheduler/app"
 _ "go.etcd.io/etcd/server/v3/embed"
 _ "sigs.k8s.io/kwok/pkg/kwok/cmd"
 _ "sigs.k8s.io/kwok/pkg/kwok/controllers"
 _ "sigs.k8s.io/kwok/kustomize/stage/node/fast"
 _ "sigs.k8s.io/kwok/kustomize/stage/node/heartbeat-with-lease"
 _ "sigs.k8s.io/kwok/kustomize/stage/pod/fast"
 _ "sigs.k8s.io/yaml"
 _ "golang.org/x/sync/errgroup"
 _ "golang.org/x/sys/unix"
 _ "github.com/google/go-cmp/cmp"
 _ "go.uber.org/goleak"
)
func main(){}
