-- Tasks of the A2A protocol: a task is a stored response, and goes on with the responses that answer what it asked.
CREATE TABLE "tasks" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "orgId" TEXT NOT NULL,
    "userId" TEXT NOT NULL,
    "agentId" TEXT NOT NULL,
    "chatId" TEXT NOT NULL,
    "lastRunId" TEXT NOT NULL,
    "runIds" TEXT[],
    "messageIds" TEXT[],
    "state" TEXT NOT NULL,

    CONSTRAINT "tasks_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "tasks_chatId_fkey" FOREIGN KEY ("chatId") REFERENCES "chats"("id") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "tasks_lastRunId_fkey" FOREIGN KEY ("lastRunId") REFERENCES "runs"("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE UNIQUE INDEX "tasks_lastRunId_key" ON "tasks"("lastRunId");
CREATE INDEX "tasks_chatId_updatedAt_id_idx" ON "tasks"("chatId", "updatedAt", "id");
CREATE INDEX "tasks_orgId_userId_agentId_updatedAt_id_idx" ON "tasks"("orgId", "userId", "agentId", "updatedAt", "id");
CREATE INDEX "tasks_orgId_userId_agentId_state_updatedAt_id_idx" ON "tasks"("orgId", "userId", "agentId", "state", "updatedAt", "id");

-- Where a task tells of its states: a webhook of its own, which no list of webhooks shows.
ALTER TABLE "webhooks" ADD COLUMN "taskId" TEXT, ADD COLUMN "taskConfigId" TEXT,
  ADD CONSTRAINT "webhooks_taskId_fkey" FOREIGN KEY ("taskId") REFERENCES "tasks"("id") ON DELETE CASCADE ON UPDATE CASCADE;
CREATE UNIQUE INDEX "webhooks_taskId_taskConfigId_key" ON "webhooks"("taskId", "taskConfigId");

-- There may be any number of them. What every run and every look for due deliveries asks passes them over.
CREATE INDEX "webhooks_of_organizations" ON "webhooks" ("orgId", "createdAt") WHERE "taskId" IS NULL;
CREATE INDEX "webhook_deliveries_of_tasks_due" ON "webhook_deliveries" ("nextAttemptAt") WHERE status = 'PENDING' AND event = 'task.changed';

-- An id of a delivery as makeId writes it, of random bits only.
CREATE FUNCTION parley_delivery_id() RETURNS TEXT LANGUAGE sql VOLATILE AS $$
  SELECT 'whd_0' || string_agg(substr('0123456789abcdefghjkmnpqrstvwxyz', 1 + (get_byte(bytes, at) & 31), 1), '' ORDER BY at)
  FROM (SELECT uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) AS bytes) AS random, generate_series(0, 24) AS at
$$;
CREATE OR REPLACE FUNCTION parley_webhook_deliveries(org TEXT, person TEXT, agent TEXT, kind TEXT, data JSON) RETURNS void LANGUAGE sql AS $$
  INSERT INTO webhook_deliveries (id, "orgId", "webhookId", "userId", event, body, "nextAttemptAt")
  SELECT parley_delivery_id(), w."orgId", w.id, person, kind,
    json_build_object('type', kind, 'timestamp', to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'data', data)::text, now()
  FROM webhooks AS w
  WHERE w."orgId" = org AND w."taskId" IS NULL AND w."isEnabled" AND kind = ANY (w.events)
    AND (cardinality(w."agentIds") = 0 OR agent = ANY (w."agentIds") OR kind NOT IN ('run.ended', 'approval.wanted'));
$$;

-- The state of a task follows that of its last response: at the end of the transaction, when the calls that wait for an answer stand in the chat.
CREATE FUNCTION parley_task_state() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  now_state TEXT;
BEGIN
  now_state := CASE
    WHEN NEW.status = 'in_progress' THEN CASE WHEN NEW."isWaiting" THEN 'SUBMITTED' ELSE 'WORKING' END
    WHEN NEW.status = 'failed' THEN 'FAILED'
    WHEN NEW.status = 'cancelled' THEN 'CANCELED'
    WHEN NEW.status = 'incomplete' AND NEW."incompleteReason" = 'paused' THEN 'WORKING'
    WHEN NEW.status = 'completed' AND EXISTS (SELECT 1 FROM messages WHERE "runId" = NEW.id AND "toolCalls" IS NOT NULL) THEN 'INPUT_REQUIRED'
    ELSE 'COMPLETED'
  END;
  UPDATE tasks SET state = now_state, "updatedAt" = now() WHERE "lastRunId" = NEW.id AND state <> now_state;
  RETURN NULL;
END;
$$;
CREATE CONSTRAINT TRIGGER parley_task_state AFTER UPDATE OF status, "isWaiting" ON runs DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (NEW.id LIKE 'resp\_%' AND (OLD.status IS DISTINCT FROM NEW.status OR OLD."isWaiting" IS DISTINCT FROM NEW."isWaiting"))
  EXECUTE FUNCTION parley_task_state();

-- Where a task stops, its client is told.
CREATE FUNCTION parley_task_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO webhook_deliveries (id, "orgId", "webhookId", "userId", event, body, "nextAttemptAt")
  SELECT parley_delivery_id(), w."orgId", w.id, NEW."userId", 'task.changed',
    json_build_object('statusUpdate', json_build_object('taskId', NEW.id, 'contextId', NEW."chatId", 'status',
      json_build_object('state', 'TASK_STATE_' || NEW.state, 'timestamp', to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))))::text, now()
  FROM webhooks AS w WHERE w."taskId" = NEW.id AND w."isEnabled";
  RETURN NULL;
END;
$$;
CREATE TRIGGER parley_task_changed AFTER UPDATE OF state ON tasks FOR EACH ROW
  WHEN (OLD.state <> NEW.state AND NEW.state IN ('INPUT_REQUIRED', 'COMPLETED', 'FAILED', 'CANCELED')) EXECUTE FUNCTION parley_task_changed();
