-- Applications that have come to agents which make services and environments
-- by themselves, until they are linked, and how often that failed.
CREATE TABLE unlinked (
  agent TEXT NOT NULL REFERENCES agent (uid) ON DELETE CASCADE,
  namespace TEXT NOT NULL,
  name TEXT NOT NULL,
  tries BIGINT NOT NULL,
  PRIMARY KEY (agent, namespace, name)
);
