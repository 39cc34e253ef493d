-- What a search looks through: name, namespace, destination and repositories in
-- lower case, cut to what an index takes; what was cut ends in three dots.
ALTER TABLE item ADD COLUMN words TEXT NOT NULL DEFAULT '';
UPDATE item SET sync = SUBSTR(sync, 1, 64), health = SUBSTR(health, 1, 64), argo_project = SUBSTR(argo_project, 1, 253),
  words = LOWER(name || '
' || namespace || '
' || repo_url || '
' || destination) || repos;
UPDATE item SET words = SUBSTR(words, 1, 697) || '...' WHERE LENGTH(words) > 700;

-- A list reads a page in the order of an index, and counts in one, without a
-- look at the rows: these are large, and what lists filter by lies behind the
-- body. So filters are in the indices too. PostgreSQL takes entries of 2,700
-- bytes; package store bounds the columns.
DROP INDEX item_id;
CREATE INDEX item_by_id ON item (kind, id, words);
CREATE INDEX item_by_name ON item (kind, name, id, health, sync, scope, argo_project, words);
CREATE INDEX item_by_change ON item (kind, changed_at, id, health, sync, scope, argo_project);
CREATE INDEX item_by_end ON item (kind, finished_at, id, health, sync, scope, argo_project);
CREATE INDEX item_by_health ON item (kind, health, id, sync, scope);
CREATE INDEX item_by_sync ON item (kind, sync, id, health, scope);
CREATE INDEX item_by_argo_project ON item (kind, argo_project, id, health, sync, scope);
CREATE INDEX item_by_agent ON item (agent_id, kind, name, id, health, sync);
