-- What an agent is installed for, and what it says that works on its
-- Applications; empty for its own engine, and for one that was not heard yet.
ALTER TABLE agent ADD COLUMN engine TEXT NOT NULL DEFAULT '';
ALTER TABLE agent ADD COLUMN engine_told TEXT NOT NULL DEFAULT '';
