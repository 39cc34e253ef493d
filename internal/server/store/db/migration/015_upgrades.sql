-- What an agent runs, whether it can upgrade itself, and why not.
ALTER TABLE agent ADD COLUMN image TEXT NOT NULL DEFAULT '';
ALTER TABLE agent ADD COLUMN upgrades BIGINT NOT NULL DEFAULT 0;
ALTER TABLE agent ADD COLUMN no_upgrade TEXT NOT NULL DEFAULT '';

-- Versions of the agent that signed statements name.
CREATE TABLE agent_release (
  version TEXT PRIMARY KEY,
  digest TEXT NOT NULL,
  body TEXT NOT NULL,
  added_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX agent_release_digest ON agent_release (digest);

-- Which version agents should run.
INSERT INTO setting (id, value, version) VALUES ('agent-versions', '', 1);

-- Upgrades of agents. One server has one until held_until, by the clock of the database.
CREATE TABLE agent_upgrade (
  id TEXT PRIMARY KEY,
  scope TEXT NOT NULL,
  by_type TEXT NOT NULL,
  by_id TEXT NOT NULL,
  token TEXT NOT NULL,
  body TEXT NOT NULL,
  state TEXT NOT NULL,
  message TEXT NOT NULL,
  stopped_by TEXT NOT NULL,
  back BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  resumed_at BIGINT NOT NULL,
  finished_at BIGINT NOT NULL,
  holder TEXT NOT NULL,
  held_until BIGINT NOT NULL
);
CREATE INDEX agent_upgrade_created ON agent_upgrade (created_at, id);
CREATE INDEX agent_upgrade_open ON agent_upgrade (finished_at, created_at);

CREATE TABLE agent_upgrade_target (
  upgrade TEXT NOT NULL REFERENCES agent_upgrade (id) ON DELETE CASCADE,
  place BIGINT NOT NULL,
  agent TEXT NOT NULL,
  state TEXT NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (upgrade, place)
);
