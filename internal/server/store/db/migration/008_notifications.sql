-- Who is told of what: channels and rules, and what is on its way.

CREATE TABLE notification_channel (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  scope TEXT NOT NULL,
  display_name TEXT NOT NULL,
  description TEXT NOT NULL,
  labels TEXT NOT NULL,
  version BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  kind TEXT NOT NULL,
  secret TEXT NOT NULL,
  url TEXT NOT NULL,
  options TEXT NOT NULL
);
CREATE INDEX notification_channel_scope ON notification_channel (scope);

CREATE TABLE notification_rule (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  scope TEXT NOT NULL,
  display_name TEXT NOT NULL,
  description TEXT NOT NULL,
  labels TEXT NOT NULL,
  version BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  channel TEXT NOT NULL REFERENCES notification_channel (id),
  events TEXT NOT NULL,
  selector TEXT NOT NULL,
  services TEXT NOT NULL,
  environments TEXT NOT NULL,
  after_time TEXT NOT NULL,
  before_time TEXT NOT NULL,
  repeat_time TEXT NOT NULL,
  title TEXT NOT NULL,
  body TEXT NOT NULL,
  paused BIGINT NOT NULL
);
CREATE INDEX notification_rule_scope ON notification_rule (scope);
CREATE INDEX notification_rule_channel ON notification_rule (channel);

-- Messages. The delivery is its identifier for people and receivers; the id is
-- that of the rule, which rights go by. It follows from the rule and the event,
-- so that a rule tells an event once, whichever servers find it.
CREATE TABLE notification_delivery (
  delivery TEXT PRIMARY KEY,
  id TEXT NOT NULL REFERENCES notification_rule (id) ON DELETE CASCADE,
  scope TEXT NOT NULL,
  channel TEXT NOT NULL,
  state TEXT NOT NULL,
  event TEXT NOT NULL,
  object_type TEXT NOT NULL,
  object_id TEXT NOT NULL,
  title TEXT NOT NULL,
  message TEXT NOT NULL,
  body TEXT NOT NULL,
  attempts BIGINT NOT NULL,
  next_at BIGINT NOT NULL,
  holder TEXT NOT NULL,
  held_until BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  finished_at BIGINT NOT NULL
);
CREATE INDEX notification_delivery_due ON notification_delivery (channel, next_at) WHERE state = 'Waiting';
CREATE INDEX notification_delivery_rule ON notification_delivery (id, created_at);
CREATE INDEX notification_delivery_object ON notification_delivery (id, event, object_id, created_at);
CREATE INDEX notification_delivery_created ON notification_delivery (created_at, delivery);
CREATE INDEX notification_delivery_finished ON notification_delivery (finished_at);

-- Up to where news was read: of the ledger, and of the items of each agent by
-- its uid. Whoever reads on has the row 'news'.
CREATE TABLE notification_place (
  id TEXT PRIMARY KEY,
  number BIGINT NOT NULL
);

-- How applications were when news was read last.
CREATE TABLE notification_seen (
  agent TEXT NOT NULL REFERENCES agent (uid) ON DELETE CASCADE,
  entry TEXT NOT NULL,
  sync TEXT NOT NULL,
  health TEXT NOT NULL,
  held BIGINT NOT NULL,
  PRIMARY KEY (agent, entry)
);

CREATE INDEX item_drift ON item (drift_since) WHERE drift_since <> 0;
CREATE INDEX token_expires ON token (expires_at);
