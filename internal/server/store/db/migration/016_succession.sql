-- The last promotion of an agent that has a standby; 0 for none.
ALTER TABLE agent ADD COLUMN generation BIGINT NOT NULL DEFAULT 0;
