-- Text is text, JSON too; times are microseconds since 1970, truths are 0 and 1.
-- Both databases read this file: on PostgreSQL text gets the collation "C".
-- Every entity has the columns of api.Meta.

CREATE TABLE organization (
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

CREATE TABLE project (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  scope TEXT NOT NULL,
  display_name TEXT NOT NULL,
  description TEXT NOT NULL,
  labels TEXT NOT NULL,
  version BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  organization TEXT NOT NULL REFERENCES organization (id)
);
CREATE INDEX project_organization ON project (organization);

CREATE TABLE person (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  scope TEXT NOT NULL,
  display_name TEXT NOT NULL,
  description TEXT NOT NULL,
  labels TEXT NOT NULL,
  version BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  email TEXT NOT NULL,
  origin TEXT NOT NULL,
  disabled BIGINT NOT NULL,
  must_change_password BIGINT NOT NULL,
  locked_until BIGINT NOT NULL,
  last_sign_in_at BIGINT NOT NULL,
  provider_teams TEXT NOT NULL,
  provider TEXT NOT NULL DEFAULT '',
  provider_subject TEXT NOT NULL DEFAULT '',
  password_hash TEXT NOT NULL DEFAULT ''
);
CREATE UNIQUE INDEX person_subject ON person (provider, provider_subject) WHERE provider_subject <> '';

CREATE TABLE team (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  scope TEXT NOT NULL,
  display_name TEXT NOT NULL,
  description TEXT NOT NULL,
  labels TEXT NOT NULL,
  version BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  claim TEXT NOT NULL
);
CREATE INDEX team_scope ON team (scope);
CREATE INDEX team_claim ON team (claim);

CREATE TABLE team_member (
  team TEXT NOT NULL REFERENCES team (id) ON DELETE CASCADE,
  person TEXT NOT NULL REFERENCES person (id) ON DELETE CASCADE,
  PRIMARY KEY (team, person)
);
CREATE INDEX team_member_person ON team_member (person);

CREATE TABLE service_account (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  scope TEXT NOT NULL,
  display_name TEXT NOT NULL,
  description TEXT NOT NULL,
  labels TEXT NOT NULL,
  version BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  disabled BIGINT NOT NULL
);
CREATE INDEX service_account_scope ON service_account (scope);

CREATE TABLE token (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  owner_type TEXT NOT NULL,
  owner_id TEXT NOT NULL,
  scope TEXT NOT NULL,
  hash TEXT NOT NULL,
  permissions TEXT NOT NULL,
  ceiling TEXT NOT NULL,
  expires_at BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  last_used_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX token_owner ON token (owner_type, owner_id, name);

CREATE TABLE session (
  hash TEXT PRIMARY KEY,
  person TEXT NOT NULL REFERENCES person (id) ON DELETE CASCADE,
  method TEXT NOT NULL,
  ip TEXT NOT NULL,
  user_agent TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  seen_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL
);
CREATE INDEX session_person ON session (person);
CREATE INDEX session_expires ON session (expires_at);

-- Wrong passwords, by the hash of what was tried.
CREATE TABLE attempt (
  id TEXT PRIMARY KEY,
  failures BIGINT NOT NULL,
  last_at BIGINT NOT NULL,
  locked_until BIGINT NOT NULL
);
CREATE INDEX attempt_last ON attempt (last_at);

-- What is finished once and soon, such as a sign-in at an identity provider.
CREATE TABLE pending (
  kind TEXT NOT NULL,
  hash TEXT NOT NULL,
  body TEXT NOT NULL,
  expires_at BIGINT NOT NULL,
  PRIMARY KEY (kind, hash)
);
CREATE INDEX pending_expires ON pending (expires_at);

CREATE TABLE role (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  scope TEXT NOT NULL,
  display_name TEXT NOT NULL,
  description TEXT NOT NULL,
  labels TEXT NOT NULL,
  version BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  permissions TEXT NOT NULL,
  built_in BIGINT NOT NULL
);
CREATE INDEX role_scope ON role (scope);

CREATE TABLE resource_group (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  scope TEXT NOT NULL,
  display_name TEXT NOT NULL,
  description TEXT NOT NULL,
  labels TEXT NOT NULL,
  version BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  types TEXT NOT NULL,
  everything BIGINT NOT NULL,
  ids TEXT NOT NULL,
  selectors TEXT NOT NULL,
  built_in BIGINT NOT NULL
);
CREATE INDEX resource_group_scope ON resource_group (scope);

CREATE TABLE binding (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  scope TEXT NOT NULL,
  display_name TEXT NOT NULL,
  description TEXT NOT NULL,
  labels TEXT NOT NULL,
  version BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  principal_type TEXT NOT NULL,
  principal_id TEXT NOT NULL,
  role TEXT NOT NULL,
  resource_group TEXT NOT NULL
);
CREATE INDEX binding_scope ON binding (scope);
CREATE INDEX binding_principal ON binding (principal_type, principal_id);
CREATE INDEX binding_role ON binding (role);
CREATE INDEX binding_resource_group ON binding (resource_group);

CREATE TABLE agent (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  scope TEXT NOT NULL,
  display_name TEXT NOT NULL,
  description TEXT NOT NULL,
  labels TEXT NOT NULL,
  version BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  uid TEXT NOT NULL UNIQUE,
  namespaced BIGINT NOT NULL,
  seal_key TEXT NOT NULL DEFAULT '',
  public_key TEXT NOT NULL DEFAULT '',
  next_key TEXT NOT NULL DEFAULT '',
  revoked BIGINT NOT NULL DEFAULT 0,
  registration_hash TEXT NOT NULL DEFAULT '',
  registration_expires BIGINT NOT NULL DEFAULT 0,
  registered_at BIGINT NOT NULL DEFAULT 0,
  cluster_uid TEXT NOT NULL DEFAULT '',
  namespace TEXT NOT NULL DEFAULT '',
  instance TEXT NOT NULL DEFAULT '',
  program TEXT NOT NULL DEFAULT '',
  kubernetes TEXT NOT NULL DEFAULT '',
  git TEXT NOT NULL DEFAULT '',
  epoch BIGINT NOT NULL DEFAULT 0,
  seq BIGINT NOT NULL DEFAULT 0,
  items BIGINT NOT NULL DEFAULT 0,
  stale BIGINT NOT NULL DEFAULT 0,
  heartbeat_at BIGINT NOT NULL DEFAULT 0,
  pending BIGINT NOT NULL DEFAULT 0,
  lag BIGINT NOT NULL DEFAULT 0,
  components TEXT NOT NULL DEFAULT '',
  state TEXT NOT NULL DEFAULT 'Never',
  state_since BIGINT NOT NULL DEFAULT 0,
  message TEXT NOT NULL DEFAULT '',
  twin TEXT NOT NULL DEFAULT ''
);
CREATE INDEX agent_scope ON agent (scope);
CREATE UNIQUE INDEX agent_registration ON agent (registration_hash) WHERE registration_hash <> '';
CREATE UNIQUE INDEX agent_public_key ON agent (public_key) WHERE public_key <> '';
CREATE UNIQUE INDEX agent_next_key ON agent (next_key) WHERE next_key <> '';

CREATE TABLE mapping (
  agent TEXT NOT NULL REFERENCES agent (id) ON DELETE CASCADE,
  argo_project TEXT NOT NULL,
  project TEXT NOT NULL REFERENCES project (id),
  version BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  PRIMARY KEY (agent, argo_project)
);
CREATE INDEX mapping_project ON mapping (project);

-- What agents tell of. The id is that of rights; kinds that share a type there
-- never share an id, since both are Secrets of one namespace.
CREATE TABLE item (
  agent TEXT NOT NULL REFERENCES agent (uid) ON DELETE CASCADE,
  entry TEXT NOT NULL,
  kind TEXT NOT NULL,
  namespace TEXT NOT NULL,
  name TEXT NOT NULL,
  id TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  scope TEXT NOT NULL,
  argo_project TEXT NOT NULL,
  hash TEXT NOT NULL,
  body TEXT NOT NULL,
  labels TEXT NOT NULL,
  changed_at BIGINT NOT NULL,
  stale_since BIGINT NOT NULL,
  sync TEXT NOT NULL,
  health TEXT NOT NULL,
  phase TEXT NOT NULL,
  message TEXT NOT NULL,
  revision TEXT NOT NULL,
  repo_url TEXT NOT NULL,
  repos TEXT NOT NULL,
  path TEXT NOT NULL,
  destination TEXT NOT NULL,
  destination_namespace TEXT NOT NULL,
  auto_sync BIGINT NOT NULL,
  conditions TEXT NOT NULL,
  finished_at BIGINT NOT NULL,
  PRIMARY KEY (agent, entry)
);
CREATE INDEX item_id ON item (kind, id);
CREATE INDEX item_scope ON item (kind, scope, id);
CREATE INDEX item_agent ON item (agent_id, kind, id);

-- Labels of entities and items, for selectors. For an item the type is its kind.
CREATE TABLE label (
  type TEXT NOT NULL,
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (type, id, name)
);
CREATE INDEX label_value ON label (type, name, value, id);

-- What agents were asked to do. The place keeps the order in which it was asked.
CREATE TABLE command (
  id TEXT PRIMARY KEY,
  place BIGINT NOT NULL,
  agent TEXT NOT NULL REFERENCES agent (uid) ON DELETE CASCADE,
  agent_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  object_type TEXT NOT NULL,
  object_id TEXT NOT NULL,
  object_scope TEXT NOT NULL,
  command TEXT NOT NULL,
  body TEXT NOT NULL,
  status TEXT NOT NULL,
  code TEXT NOT NULL,
  message TEXT NOT NULL,
  result TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  sent_at BIGINT NOT NULL,
  deadline BIGINT NOT NULL,
  finished_at BIGINT NOT NULL
);
CREATE INDEX command_open ON command (finished_at, agent, place);
CREATE INDEX command_agent ON command (agent_id, created_at, id);

-- Ids of commands, which are unique for ever, also when their agent is deleted.
CREATE TABLE command_id (
  id TEXT PRIMARY KEY,
  created_at BIGINT NOT NULL
);

-- Entries are hashed as they are here, so nothing of one is written anew.
CREATE TABLE audit (
  id BIGINT PRIMARY KEY,
  dedupe TEXT,
  at BIGINT NOT NULL,
  actor_type TEXT NOT NULL,
  actor_id TEXT NOT NULL,
  ip TEXT NOT NULL,
  user_agent TEXT NOT NULL,
  request_id TEXT NOT NULL,
  action TEXT NOT NULL,
  object_type TEXT NOT NULL,
  object_id TEXT NOT NULL,
  scope TEXT NOT NULL,
  reason TEXT NOT NULL,
  before_text TEXT NOT NULL,
  after_text TEXT NOT NULL,
  outcome TEXT NOT NULL,
  message TEXT NOT NULL,
  prev_hash TEXT NOT NULL,
  hash TEXT NOT NULL
);
CREATE UNIQUE INDEX audit_dedupe ON audit (dedupe);
CREATE INDEX audit_at ON audit (at);
CREATE INDEX audit_actor ON audit (actor_id, id);
CREATE INDEX audit_object ON audit (object_id, id);
CREATE INDEX audit_action ON audit (action, id);
CREATE INDEX audit_scope ON audit (scope, id);

-- Two places in the chain: its newest entry, and the last that was removed for
-- its age.
CREATE TABLE audit_place (
  id TEXT PRIMARY KEY,
  entry BIGINT NOT NULL,
  hash TEXT NOT NULL,
  at BIGINT NOT NULL
);
INSERT INTO audit_place (id, entry, hash, at) VALUES ('head', 0, '', 0);
INSERT INTO audit_place (id, entry, hash, at) VALUES ('anchor', 0, '', 0);

CREATE TABLE idempotency (
  id TEXT PRIMARY KEY,
  fingerprint TEXT NOT NULL,
  done BIGINT NOT NULL,
  status BIGINT NOT NULL,
  header TEXT NOT NULL,
  body TEXT NOT NULL,
  expires_at BIGINT NOT NULL
);
CREATE INDEX idempotency_expires ON idempotency (expires_at);

CREATE TABLE setting (
  id TEXT PRIMARY KEY,
  value TEXT NOT NULL,
  version BIGINT NOT NULL
);
INSERT INTO setting (id, value, version) VALUES ('policy', '', 1);
INSERT INTO setting (id, value, version) VALUES ('commands', '', 0);
INSERT INTO setting (id, value, version) VALUES ('settings', '', 1);
