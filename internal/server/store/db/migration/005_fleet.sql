-- Many applications at a time: what they are counted and found by, saved
-- filters, and jobs that do the same with many of them.

-- Of an application: whether its sync waits for somebody or something, and since
-- when it is out of sync, 0 where it is not. The edition is that of item_edition
-- when the row was written.
ALTER TABLE item ADD COLUMN held BIGINT NOT NULL DEFAULT 0;
ALTER TABLE item ADD COLUMN drift_since BIGINT NOT NULL DEFAULT 0;
ALTER TABLE item ADD COLUMN edition BIGINT NOT NULL DEFAULT 0;
CREATE INDEX item_changed ON item (agent, edition) WHERE kind = 'application';

-- Counts what was written of the items of an agent, so that who has read them
-- reads on. What was deleted since an edition is not to be seen, so whoever has
-- read before dropped reads all of them again.
CREATE TABLE item_edition (
  agent TEXT PRIMARY KEY,
  edition BIGINT NOT NULL,
  dropped BIGINT NOT NULL
);

-- Copies from before have nothing in the new columns: agents send them again.
UPDATE item SET hash = '' WHERE kind = 'application';

-- A filter under a name: of one person or service account, or of everyone where
-- the owner is empty.
CREATE TABLE saved_view (
  owner_type TEXT NOT NULL,
  owner_id TEXT NOT NULL,
  name TEXT NOT NULL,
  description TEXT NOT NULL,
  filter TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  PRIMARY KEY (owner_type, owner_id, name)
);

-- Jobs: who asked for what, and how far it is. One server has a job until
-- held_until, by the clock of the database.
CREATE TABLE bulk_job (
  id TEXT PRIMARY KEY,
  by_type TEXT NOT NULL,
  by_id TEXT NOT NULL,
  token TEXT NOT NULL,
  action TEXT NOT NULL,
  reason TEXT NOT NULL,
  body TEXT NOT NULL,
  state TEXT NOT NULL,
  message TEXT NOT NULL,
  stopped_by TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  finished_at BIGINT NOT NULL,
  holder TEXT NOT NULL,
  held_until BIGINT NOT NULL
);
CREATE INDEX bulk_job_created ON bulk_job (created_at, id);
CREATE INDEX bulk_job_open ON bulk_job (finished_at, created_at);

-- The applications of a job, in their order.
CREATE TABLE bulk_target (
  job TEXT NOT NULL REFERENCES bulk_job (id) ON DELETE CASCADE,
  place BIGINT NOT NULL,
  id TEXT NOT NULL,
  state TEXT NOT NULL,
  command TEXT NOT NULL,
  request TEXT NOT NULL,
  message TEXT NOT NULL,
  started_at BIGINT NOT NULL,
  finished_at BIGINT NOT NULL,
  PRIMARY KEY (job, place)
);
CREATE INDEX bulk_target_state ON bulk_target (job, state, place);
