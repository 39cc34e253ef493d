-- Agents that servers run beside themselves, and which server has which.

CREATE TABLE hosted_agent (
  agent TEXT PRIMARY KEY REFERENCES agent (uid) ON DELETE CASCADE,
  cluster TEXT NOT NULL,
  namespace TEXT NOT NULL,
  state TEXT NOT NULL,
  state_since BIGINT NOT NULL,
  message TEXT NOT NULL,
  server TEXT NOT NULL,
  restarts BIGINT NOT NULL,
  holder TEXT NOT NULL,
  held_until BIGINT NOT NULL
);
CREATE UNIQUE INDEX hosted_agent_namespace ON hosted_agent (cluster, namespace);
