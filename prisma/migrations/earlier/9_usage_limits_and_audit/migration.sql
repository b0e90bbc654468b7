-- CreateTable
CREATE TABLE "usage_days" (
    "orgId" TEXT NOT NULL,
    "day" DATE NOT NULL,
    "agentId" TEXT NOT NULL DEFAULT '',
    "dataTokens" BIGINT NOT NULL DEFAULT 0,
    "apiTokens" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "usage_days_pkey" PRIMARY KEY ("orgId","day","agentId")
);

-- CreateTable
CREATE TABLE "usage_counters" (
    "orgId" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "used" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "usage_counters_pkey" PRIMARY KEY ("orgId","kind")
);

-- CreateTable
CREATE TABLE "usage_reservations" (
    "owner" TEXT NOT NULL,
    "orgId" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "tokens" BIGINT NOT NULL,
    "leaseUntil" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "usage_reservations_pkey" PRIMARY KEY ("owner","orgId","kind")
);

-- CreateTable
CREATE TABLE "audit_entries" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "orgId" TEXT NOT NULL,
    "actorUserId" TEXT NOT NULL,
    "actorEmail" TEXT NOT NULL,
    "actorKeyId" TEXT NOT NULL,
    "action" TEXT NOT NULL,
    "targetKind" TEXT,
    "targetId" TEXT,
    "changes" JSONB NOT NULL,
    "requestId" TEXT NOT NULL,

    CONSTRAINT "audit_entries_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "usage_reservations_orgId_kind_idx" ON "usage_reservations"("orgId", "kind");

-- CreateIndex
CREATE INDEX "audit_entries_orgId_createdAt_id_idx" ON "audit_entries"("orgId", "createdAt", "id");

-- CreateIndex
CREATE INDEX "audit_entries_createdAt_idx" ON "audit_entries"("createdAt");

-- What was used before is counted too.
INSERT INTO "usage_days" ("orgId", "day", "agentId", "dataTokens", "apiTokens")
SELECT "orgId", ("createdAt" AT TIME ZONE 'utc')::date, coalesce("agentId", ''),
  coalesce(sum("inputTokens"::bigint + "outputTokens") FILTER (WHERE "purpose" <> 'run'), 0),
  coalesce(sum("inputTokens"::bigint + "outputTokens") FILTER (WHERE "purpose" = 'run'), 0)
FROM "usage_entries" GROUP BY 1, 2, 3;

INSERT INTO "usage_counters" ("orgId", "kind", "used")
SELECT "orgId", CASE WHEN "purpose" = 'run' THEN 'api' ELSE 'data' END, sum("inputTokens"::bigint + "outputTokens")
FROM "usage_entries" GROUP BY 1, 2;
