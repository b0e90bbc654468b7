-- Outside a transaction: "runs" may be large, and its writers must not wait. The sweep asks whether a run names an old version of an agent.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "runs_of_version" ON "runs" ("agentId", "agentVersion") WHERE "agentVersion" > 0;
