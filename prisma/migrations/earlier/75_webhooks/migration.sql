-- CreateTable
CREATE TABLE "webhooks" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,
    "orgId" TEXT NOT NULL,
    "url" TEXT NOT NULL,
    "description" TEXT NOT NULL,
    "events" TEXT[],
    "agentIds" TEXT[],
    "secret" TEXT NOT NULL,
    "previousSecret" TEXT,
    "previousUntil" TIMESTAMPTZ(3),
    "isEnabled" BOOLEAN NOT NULL DEFAULT true,
    "disabledReason" TEXT,
    "failingSince" TIMESTAMPTZ(3),

    CONSTRAINT "webhooks_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "webhook_deliveries" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "orgId" TEXT NOT NULL,
    "webhookId" TEXT NOT NULL,
    "userId" TEXT,
    "event" TEXT NOT NULL,
    "body" TEXT NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'PENDING',
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "nextAttemptAt" TIMESTAMPTZ(3),
    "lastAttemptAt" TIMESTAMPTZ(3),
    "lastStatus" INTEGER,
    "lastBodyStart" TEXT,
    "lastError" TEXT,

    CONSTRAINT "webhook_deliveries_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "webhooks_orgId_createdAt_idx" ON "webhooks"("orgId", "createdAt");

-- CreateIndex
CREATE INDEX "webhook_deliveries_webhookId_createdAt_idx" ON "webhook_deliveries"("webhookId", "createdAt");

-- CreateIndex
CREATE INDEX "webhook_deliveries_orgId_userId_idx" ON "webhook_deliveries"("orgId", "userId");

-- CreateIndex
CREATE INDEX "webhook_deliveries_createdAt_idx" ON "webhook_deliveries"("createdAt");

-- AddForeignKey
ALTER TABLE "webhook_deliveries" ADD CONSTRAINT "webhook_deliveries_webhookId_fkey" FOREIGN KEY ("webhookId") REFERENCES "webhooks"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- What waits to be sent, by its webhook: those of one that is switched off are passed over as a whole.
CREATE INDEX "webhook_deliveries_due" ON "webhook_deliveries" ("webhookId", "nextAttemptAt") WHERE status = 'PENDING';

-- Deliveries are written by triggers, in the transaction of what they tell, whichever statement writes it. Runs cost no further statement.
-- `person` is whose it is, for exports and erasures.
CREATE FUNCTION parley_webhook_deliveries(org TEXT, person TEXT, agent TEXT, kind TEXT, data JSON) RETURNS void LANGUAGE sql AS $$
  INSERT INTO webhook_deliveries (id, "orgId", "webhookId", "userId", event, body, "nextAttemptAt")
  -- An id as makeId writes it, of random bits only.
  SELECT 'whd_0' || (SELECT string_agg(substr('0123456789abcdefghjkmnpqrstvwxyz', 1 + (get_byte(bytes, at) & 31), 1), '' ORDER BY at)
                     FROM (SELECT uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) AS bytes, w.id) AS random, generate_series(0, 24) AS at),
    w."orgId", w.id, person, kind,
    json_build_object('type', kind, 'timestamp', to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'data', data)::text, now()
  FROM webhooks AS w
  WHERE w."orgId" = org AND w."isEnabled" AND kind = ANY (w.events)
    AND (cardinality(w."agentIds") = 0 OR agent = ANY (w."agentIds") OR kind NOT IN ('run.ended', 'approval.wanted'));
$$;

CREATE FUNCTION parley_webhook_run_ended() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM webhooks WHERE "orgId" = NEW."orgId") THEN
    PERFORM parley_webhook_deliveries(NEW."orgId", NEW."userId", NEW."agentId", 'run.ended', json_build_object('runId', NEW.id, 'status', NEW.status,
      'agentId', NEW."agentId", 'chatId', NEW."chatId", 'userId', NEW."userId", 'errorCode', NEW."errorCode"));
  END IF;
  RETURN NULL;
END;
$$;
CREATE TRIGGER parley_webhook_run_ended AFTER UPDATE OF status ON runs FOR EACH ROW
  WHEN (OLD.status = 'in_progress' AND NEW.status <> 'in_progress') EXECUTE FUNCTION parley_webhook_run_ended();
CREATE TRIGGER parley_webhook_run_written AFTER INSERT ON runs FOR EACH ROW
  WHEN (NEW.status <> 'in_progress') EXECUTE FUNCTION parley_webhook_run_ended();

CREATE FUNCTION parley_webhook_source_failed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE source RECORD;
BEGIN
  SELECT "orgId", "ownerUserId", id INTO source FROM data_sources WHERE id = NEW."dataSourceId";
  IF FOUND THEN
    PERFORM parley_webhook_deliveries(source."orgId", source."ownerUserId", NULL, 'source.failed',
      json_build_object('dataSourceId', source.id, 'sourceRunId', NEW.id, 'errorCode', NEW."errorCode"));
  END IF;
  RETURN NULL;
END;
$$;
CREATE TRIGGER parley_webhook_source_failed AFTER UPDATE OF status ON source_runs FOR EACH ROW
  WHEN (OLD.status <> 'FAILED' AND NEW.status = 'FAILED') EXECUTE FUNCTION parley_webhook_source_failed();

CREATE FUNCTION parley_webhook_approval_wanted() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE asking RECORD;
BEGIN
  IF EXISTS (SELECT 1 FROM webhooks WHERE "orgId" = NEW."orgId") THEN
    SELECT "agentId", "chatId" INTO asking FROM runs WHERE id = NEW."runId";
    PERFORM parley_webhook_deliveries(NEW."orgId", NEW."userId", asking."agentId", 'approval.wanted', json_build_object('approvalId', NEW.id,
      'runId', NEW."runId", 'agentId', asking."agentId", 'chatId', asking."chatId", 'userId', NEW."userId", 'expiresAt', NEW."expiresAt"));
  END IF;
  RETURN NULL;
END;
$$;
CREATE TRIGGER parley_webhook_approval_wanted AFTER INSERT ON call_approvals FOR EACH ROW EXECUTE FUNCTION parley_webhook_approval_wanted();

-- A limit of tokens holds for good, so each mark is passed once, until the limit is changed. The row of the counter is locked by who adds to it: of several
-- instances one passes the mark.
CREATE FUNCTION parley_webhook_limit_near() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  used_before BIGINT := 0;
  token_limit BIGINT;
  mark INTEGER;
BEGIN
  IF NOT EXISTS (SELECT 1 FROM webhooks WHERE "orgId" = NEW."orgId") THEN RETURN NULL; END IF;
  IF TG_OP = 'UPDATE' THEN used_before := OLD.used; END IF;
  SELECT CASE NEW.kind WHEN 'api' THEN "apiUsageTokenLimit" ELSE "dataUsageTokenLimit" END INTO token_limit FROM organizations WHERE id = NEW."orgId";
  FOREACH mark IN ARRAY ARRAY[95, 80] LOOP
    IF used_before * 100 < token_limit * mark AND NEW.used * 100 >= token_limit * mark THEN
      PERFORM parley_webhook_deliveries(NEW."orgId", NULL, NULL, 'limit.near',
        json_build_object('kind', NEW.kind, 'percent', mark, 'used', NEW.used, 'limit', token_limit));
      RETURN NULL;
    END IF;
  END LOOP;
  RETURN NULL;
END;
$$;
CREATE TRIGGER parley_webhook_limit_near AFTER INSERT OR UPDATE OF used ON usage_counters FOR EACH ROW EXECUTE FUNCTION parley_webhook_limit_near();
