-- Entries of indexing were written without the sums and the counters, since these have a statement of their own. What is missing is added once.
CREATE TEMPORARY TABLE parley_unsummed ON COMMIT DROP AS
SELECT e."orgId", e."userId", e."createdAt", e."inputTokens"::bigint + e."outputTokens" AS tokens,
  e."createdAt" >= sums.applied_at AS is_unsummed
FROM usage_entries e, parley_migrations days, parley_migrations sums
WHERE e.purpose = 'indexing' AND e."modelId" = 'parley/index'
  AND days.name = '9_usage_limits_and_audit' AND sums.name = '62_usage_sums' AND e."createdAt" >= days.applied_at;

INSERT INTO usage_days AS d ("orgId", day, "agentId", "dataTokens", "apiTokens")
SELECT "orgId", ("createdAt" AT TIME ZONE 'utc')::date, '', sum(tokens), 0 FROM parley_unsummed GROUP BY 1, 2
ON CONFLICT ("orgId", day, "agentId") DO UPDATE SET "dataTokens" = d."dataTokens" + excluded."dataTokens";

INSERT INTO usage_sums AS s ("orgId", dimension, day, value, "dataTokens", "apiTokens")
SELECT u."orgId", by.dimension, (u."createdAt" AT TIME ZONE 'utc')::date, by.value, sum(u.tokens), 0
FROM parley_unsummed u CROSS JOIN LATERAL (VALUES ('user', u."userId"), ('key', ''), ('model', 'parley/index')) AS by (dimension, value)
WHERE u.is_unsummed GROUP BY 1, 2, 3, 4
ON CONFLICT ("orgId", dimension, day, value) DO UPDATE SET "dataTokens" = s."dataTokens" + excluded."dataTokens";

INSERT INTO usage_counters AS c ("orgId", kind, used) SELECT "orgId", 'data', sum(tokens) FROM parley_unsummed GROUP BY 1
ON CONFLICT ("orgId", kind) DO UPDATE SET used = c.used + excluded.used;
