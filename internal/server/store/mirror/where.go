package mirror

import (
	"strings"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
	"github.com/slipway-gitops/slipway/internal/server/store/entity"
)

// ItemsOf is the table of items, for rights on a kind of them.
func ItemsOf(kind string) db.Guarded {
	return db.Guarded{Name: "item", Of: entity.TypeOf(agentapi.ItemKind(kind)), Kind: kind}
}

// awayAgent is 1 for an agent of which nothing new is known: it is disconnected, or was revoked. Otherwise it is 0.
const awayAgent = "CASE WHEN agent.revoked <> 0 OR agent.state = '" + api.AgentDisconnected + "' THEN 1 ELSE 0 END"

// itemAge says whether nothing new is known of the agent of an item, and when the agent was heard last.
const itemAge = "COALESCE((SELECT " + awayAgent + " FROM agent WHERE agent.uid = item.agent), 0), " +
	"COALESCE((SELECT agent.heartbeat_at FROM agent WHERE agent.uid = item.agent), 0)"

// agentAwaySince is when the agent of an item was heard last, where it is away; otherwise it is 0.
const agentAwaySince = "COALESCE((SELECT CASE WHEN " + awayAgent + " = 1 THEN agent.heartbeat_at ELSE 0 END " +
	"FROM agent WHERE agent.uid = item.agent), 0)"

// itemSorts are what lists of items can be sorted by.
func itemSorts() map[string]string {
	return map[string]string{
		"name": "item.name", "namespace": "item.namespace", "agent": "item.agent_id", "argoProject": "item.argo_project",
		"scope": "item.scope", "updatedAt": "item.changed_at", "sync": "item.sync", "health": "item.health", "phase": "item.phase",
		"repoURL": "item.repo_url", "destination": "item.destination", "finishedAt": "item.finished_at",
		"service": "item.service", "environment": "item.environment", "driftSince": "item.drift_since",
	}
}

// narrow adds what lists of items are filtered by.
func narrowItems(w *db.Where, kind string, filter api.ItemFilter, visible rbac.Filter) {
	w.And("item.kind = ?", kind)
	w.Permitted(ItemsOf(kind), visible)
	options := filter.ListOptions
	for word := range strings.FieldsSeq(strings.ToLower(options.Search)) {
		w.Like("item.words", "%", word, "%")
	}
	options.Search = ""
	w.Options(ItemsOf(kind), options)
	w.Is("item.agent_id", filter.Agent)
	w.Is("item.argo_project", filter.ArgoProject)
	if filter.Stale {
		w.And("(item.stale_since <> 0 OR EXISTS (SELECT 1 FROM agent WHERE agent.uid = item.agent AND " + awayAgent + " = 1))")
	}
}

// repository adds that an item has a source in a repository. The words, which an index holds, spare most looks at rows.
func inRepository(w *db.Where, address string) {
	repo := sameRepo(address)
	w.And("(item.words LIKE ? ESCAPE '!' OR item.words LIKE ?)", "%\n"+db.Literal(repo)+"\n%", "%"+cutWords)
	w.Like("item.repos", "%\n", repo, "\n%")
}
