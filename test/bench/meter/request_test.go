package meter

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const page = `# HELP apiserver_request_total Counter of apiserver requests
# TYPE apiserver_request_total counter
apiserver_request_total{code="200",component="apiserver",dry_run="",group="apps",resource="deployments",scope="resource",subresource="",verb="APPLY",version="v1"} 3
apiserver_request_total{code="201",component="apiserver",dry_run="",group="apps",resource="deployments",scope="resource",subresource="",verb="APPLY",version="v1"} 4
apiserver_request_total{code="200",component="apiserver",dry_run="All",group="",resource="configmaps",scope="resource",subresource="",verb="APPLY",version="v1"} 2
apiserver_request_total{code="200",component="apiserver",dry_run="",group="apps",resource="deployments",scope="resource",subresource="/status",verb="PATCH",version="v1"} 9
apiserver_request_total_other{verb="GET"} 5
other{verb="GET"} 1
`

func TestServerRequestsAreSummedUpOverAnswerCodes(t *testing.T) {
	t.Parallel()
	got, err := ServerRequests(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	want := Requests{
		{Verb: "APPLY", Resource: "deployments.apps"}:        7,
		{Verb: "DRYRUN APPLY", Resource: "configmaps"}:       2,
		{Verb: "PATCH", Resource: "deployments.apps/status"}: 9,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("counts differ (-want +got):\n%s", diff)
	}
	if n := got.WithoutBackground().Writes(); n != 7 {
		t.Errorf("%d writes are not by controllers and no dry runs, want 7", n)
	}
}

func TestAPageWithoutTheMetricHasNoRequests(t *testing.T) {
	t.Parallel()
	got, err := EngineRequests(strings.NewReader(page))
	if err != nil || len(got) != 0 {
		t.Errorf("got %v, %v", got, err)
	}
	if _, err := EngineRequests(strings.NewReader(engineMetric + "{verb=\"GET\"\n")); err == nil {
		t.Error("half a line was accepted")
	}
}

func TestMinusLeavesWhatWasAdded(t *testing.T) {
	t.Parallel()
	a, b, c := Request{Verb: "GET", Resource: "a"}, Request{Verb: "PUT", Resource: "b"}, Request{Verb: "LIST", Resource: "c"}
	got := Requests{a: 5, b: 2, c: 1}.Minus(Requests{a: 3, b: 2, c: 4})
	if diff := cmp.Diff(Requests{a: 2}, got); diff != "" {
		t.Errorf("difference differs (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int{"GET": 5, "PUT": 2}, Requests{a: 5, b: 2}.ByVerb()); diff != "" {
		t.Errorf("sums differ (-want +got):\n%s", diff)
	}
}

func TestAnEngineMayCountByMethodOnly(t *testing.T) {
	t.Parallel()
	got, err := EngineRequests(strings.NewReader(engineMetric + `{code="OK",method="PATCH"} 4` + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Requests{{Verb: "PATCH"}: 4}, got); diff != "" || got.Detailed() {
		t.Errorf("counts differ (-want +got):\n%s", diff)
	}
}
