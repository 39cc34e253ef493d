-- Applications are listed, filtered and counted in a copy in memory, and read by
-- their ids: each index less is an entry less to write when one of them changes.
DROP INDEX IF EXISTS item_by_name;
DROP INDEX IF EXISTS item_by_change;
DROP INDEX IF EXISTS item_by_end;
DROP INDEX IF EXISTS item_by_health;
DROP INDEX IF EXISTS item_by_sync;
DROP INDEX IF EXISTS item_by_argo_project;
DROP INDEX IF EXISTS item_by_agent;
