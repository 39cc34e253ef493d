-- What a search looks through: name, namespace, destination and repositories in
-- lower case, cut to what an index takes; what was cut ends in three dots. One
-- statement writes it: PostgreSQL puts rows as they were before into an index of
-- the same transaction too.
ALTER TABLE item ADD COLUMN words TEXT NOT NULL DEFAULT '';
UPDATE item SET sync = SUBSTR(sync, 1, 64), health = SUBSTR(health, 1, 64), argo_project = SUBSTR(argo_project, 1, 253),
  words = (SELECT CASE
    WHEN OCTET_LENGTH(whole) <= 700 THEN whole
    WHEN OCTET_LENGTH(SUBSTR(whole, 1, 697)) = 697 THEN SUBSTR(whole, 1, 697) || '...'
    ELSE SUBSTR(whole, 1, 174) || '...'
  END FROM (SELECT LOWER(item.name || '
' || item.namespace || '
' || item.repo_url || '
' || item.destination) || item.repos AS whole) AS uncut);

-- Lists of settings read a page in the order of an index. PostgreSQL takes entries
-- of 2,700 bytes; package store bounds the columns. There were more indices here,
-- which 009 drops where they are: one long text kept PostgreSQL from making them.
DROP INDEX item_id;
CREATE INDEX item_by_id ON item (kind, id, words);
