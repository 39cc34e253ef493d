-- The last time that an agent was away and came back: from when to when it was
-- disconnected. 0 for never.
ALTER TABLE agent ADD COLUMN lost_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE agent ADD COLUMN back_at BIGINT NOT NULL DEFAULT 0;
