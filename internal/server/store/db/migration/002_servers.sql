-- What servers that share a database need of each other.

-- Servers that run, or ran a moment ago. What is kept here does not outlive
-- them, and times are those of the database's own clock.
CREATE TABLE server (
  id TEXT PRIMARY KEY,
  address TEXT NOT NULL,
  key_print TEXT NOT NULL,
  version TEXT NOT NULL,
  started_at BIGINT NOT NULL,
  seen_at BIGINT NOT NULL
);

-- Work that one of them does for all: who has it until when, and when it is to
-- be done again.
CREATE TABLE job (
  id TEXT PRIMARY KEY,
  holder TEXT NOT NULL,
  held_until BIGINT NOT NULL,
  due_at BIGINT NOT NULL
);

-- Changes, in one order for all readers of all servers. The place has the
-- number of the newest, and what tells this row of numbers from others.
CREATE TABLE event (
  number BIGINT PRIMARY KEY,
  body TEXT NOT NULL
);
CREATE TABLE event_place (
  id TEXT PRIMARY KEY,
  run TEXT NOT NULL,
  number BIGINT NOT NULL
);
