-- What runs where: services, environments, and which applications are of them.

CREATE TABLE service (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  scope TEXT NOT NULL,
  display_name TEXT NOT NULL,
  description TEXT NOT NULL,
  labels TEXT NOT NULL,
  version BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL
);
CREATE INDEX service_scope ON service (scope);

CREATE TABLE environment (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  scope TEXT NOT NULL,
  display_name TEXT NOT NULL,
  description TEXT NOT NULL,
  labels TEXT NOT NULL,
  version BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  type TEXT NOT NULL,
  region TEXT NOT NULL
);
CREATE INDEX environment_scope ON environment (scope);

-- A cluster is written by its name, where its agent knows one. It is in one
-- environment of a scope.
CREATE TABLE environment_cluster (
  environment TEXT NOT NULL REFERENCES environment (id) ON DELETE CASCADE,
  scope TEXT NOT NULL,
  agent TEXT NOT NULL REFERENCES agent (id) ON DELETE CASCADE,
  cluster TEXT NOT NULL,
  PRIMARY KEY (environment, agent, cluster)
);
CREATE UNIQUE INDEX environment_cluster_scope ON environment_cluster (scope, agent, cluster);
CREATE INDEX environment_cluster_agent ON environment_cluster (agent);

-- What somebody has said of an application, which need not be there.
CREATE TABLE application_link (
  agent TEXT NOT NULL REFERENCES agent (id) ON DELETE CASCADE,
  namespace TEXT NOT NULL,
  name TEXT NOT NULL,
  service TEXT NOT NULL,
  environment TEXT NOT NULL,
  version BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  PRIMARY KEY (agent, namespace, name)
);
CREATE INDEX application_link_service ON application_link (service);
CREATE INDEX application_link_environment ON application_link (environment);

ALTER TABLE agent ADD COLUMN auto_create BIGINT NOT NULL DEFAULT 0;

-- Of an application: what it is of, and what was deployed. Of a cluster: its
-- name. Of instances: how many there are.
ALTER TABLE item ADD COLUMN service TEXT NOT NULL DEFAULT '';
ALTER TABLE item ADD COLUMN environment TEXT NOT NULL DEFAULT '';
ALTER TABLE item ADD COLUMN title TEXT NOT NULL DEFAULT '';
ALTER TABLE item ADD COLUMN deployed_image TEXT NOT NULL DEFAULT '';
ALTER TABLE item ADD COLUMN deployed_tag TEXT NOT NULL DEFAULT '';
ALTER TABLE item ADD COLUMN deployed_chart TEXT NOT NULL DEFAULT '';
ALTER TABLE item ADD COLUMN deployed_commit TEXT NOT NULL DEFAULT '';
ALTER TABLE item ADD COLUMN deployed_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE item ADD COLUMN ready BIGINT NOT NULL DEFAULT 0;
ALTER TABLE item ADD COLUMN total BIGINT NOT NULL DEFAULT 0;
CREATE INDEX item_service ON item (service, environment, id, scope, agent_id, kind, deployed_tag, deployed_chart, deployed_commit)
  WHERE service <> '';
CREATE INDEX item_environment ON item (environment, id) WHERE environment <> '';

-- Copies from before have nothing in the new columns: agents send them again.
UPDATE item SET hash = '' WHERE kind IN ('application', 'cluster');

-- Whoever changes services, environments or links has this row; whoever stores
-- applications shares it.
INSERT INTO setting (id, value, version) VALUES ('links', '', 0);
