-- CreateTable
CREATE TABLE "usage_sums" (
    "orgId" TEXT NOT NULL,
    "dimension" TEXT NOT NULL,
    "day" DATE NOT NULL,
    "value" TEXT NOT NULL,
    "dataTokens" BIGINT NOT NULL DEFAULT 0,
    "apiTokens" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "usage_sums_pkey" PRIMARY KEY ("orgId","dimension","day","value")
);

-- What was used before is summed too.
INSERT INTO "usage_sums" ("orgId", "dimension", "day", "value", "dataTokens", "apiTokens")
SELECT e."orgId", d."dimension", (e."createdAt" AT TIME ZONE 'utc')::date, d."value",
  coalesce(sum(e."inputTokens"::bigint + e."outputTokens") FILTER (WHERE e."purpose" <> 'run'), 0),
  coalesce(sum(e."inputTokens"::bigint + e."outputTokens") FILTER (WHERE e."purpose" = 'run'), 0)
FROM "usage_entries" e
CROSS JOIN LATERAL (VALUES ('user', e."userId"), ('key', coalesce(e."keyId", '')), ('model', e."modelId")) AS d ("dimension", "value")
GROUP BY 1, 2, 3, 4;
