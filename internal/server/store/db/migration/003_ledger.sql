-- What operations did. Rows stay when the application, its agent or its project
-- are gone, so nothing here refers to them. The id is that of the application,
-- as rights name it; entry is what the ledger calls the row.
CREATE TABLE ledger_entry (
  number BIGINT PRIMARY KEY,
  entry TEXT NOT NULL UNIQUE,
  agent TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  id TEXT NOT NULL,
  namespace TEXT NOT NULL,
  name TEXT NOT NULL,
  application_uid TEXT NOT NULL,
  scope TEXT NOT NULL,
  argo_project TEXT NOT NULL,
  service TEXT NOT NULL,
  environment TEXT NOT NULL,
  destination TEXT NOT NULL,
  actor TEXT NOT NULL,
  command TEXT NOT NULL,
  action TEXT NOT NULL,
  phase TEXT NOT NULL,
  health TEXT NOT NULL,
  automatic BIGINT NOT NULL,
  recovered BIGINT NOT NULL,
  whole BIGINT NOT NULL,
  revision TEXT NOT NULL,
  revisions TEXT NOT NULL,
  commit_author TEXT NOT NULL,
  created BIGINT NOT NULL,
  changed BIGINT NOT NULL,
  deleted BIGINT NOT NULL,
  committed_at BIGINT NOT NULL,
  detected_at BIGINT NOT NULL,
  rendered_at BIGINT NOT NULL,
  started_at BIGINT NOT NULL,
  applied_at BIGINT NOT NULL,
  finished_at BIGINT NOT NULL,
  healthy_at BIGINT NOT NULL,
  body TEXT NOT NULL,
  size BIGINT NOT NULL
);
CREATE INDEX ledger_entry_finished ON ledger_entry (finished_at, entry);
CREATE INDEX ledger_entry_application ON ledger_entry (id, finished_at);
CREATE INDEX ledger_entry_uid ON ledger_entry (agent, application_uid, started_at);
CREATE INDEX ledger_entry_scope ON ledger_entry (scope, finished_at);
CREATE INDEX ledger_entry_service ON ledger_entry (service, environment, finished_at);
CREATE INDEX ledger_entry_environment ON ledger_entry (environment, finished_at);

-- Objects that entries name, and manifests behind hashes: base64 of zstd, empty
-- until the agent has sent it. Both are those of one agent, so that nobody reads
-- a manifest by naming its hash.
CREATE TABLE ledger_name (
  number BIGINT PRIMARY KEY,
  agent TEXT NOT NULL,
  key TEXT NOT NULL,
  api_group TEXT NOT NULL,
  kind TEXT NOT NULL,
  namespace TEXT NOT NULL,
  name TEXT NOT NULL
);
CREATE UNIQUE INDEX ledger_name_key ON ledger_name (agent, key);
CREATE INDEX ledger_name_object ON ledger_name (kind, namespace, name);
CREATE TABLE ledger_blob (
  number BIGINT PRIMARY KEY,
  agent TEXT NOT NULL,
  hash TEXT NOT NULL,
  content TEXT NOT NULL,
  size BIGINT NOT NULL,
  images TEXT NOT NULL
);
CREATE UNIQUE INDEX ledger_blob_hash ON ledger_blob (agent, hash);

-- What an entry rendered, and did: blob is 0 for what was not rendered, verb
-- empty for what was left as it is.
CREATE TABLE ledger_object (
  entry BIGINT NOT NULL,
  object BIGINT NOT NULL,
  blob BIGINT NOT NULL,
  hook BIGINT NOT NULL,
  verb TEXT NOT NULL,
  outcome TEXT NOT NULL,
  PRIMARY KEY (entry, object)
);
CREATE INDEX ledger_object_object ON ledger_object (object, entry);
CREATE INDEX ledger_object_blob ON ledger_object (blob);

-- The number that was given last, in any of these tables, and how many bytes
-- they hold.
CREATE TABLE ledger_place (
  id TEXT PRIMARY KEY,
  number BIGINT NOT NULL
);
INSERT INTO ledger_place (id, number) VALUES ('number', 0);
INSERT INTO ledger_place (id, number) VALUES ('bytes', 0);
