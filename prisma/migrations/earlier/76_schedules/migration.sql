-- CreateTable
CREATE TABLE "schedules" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,
    "orgId" TEXT NOT NULL,
    "userId" TEXT NOT NULL,
    "agentId" TEXT,
    "name" TEXT NOT NULL,
    "prompt" TEXT NOT NULL,
    "userInputs" JSONB NOT NULL DEFAULT '{}',
    "cron" TEXT NOT NULL,
    "timeZone" TEXT NOT NULL,
    "chatMode" TEXT NOT NULL,
    "chatId" TEXT,
    "webhookId" TEXT,
    "isEnabled" BOOLEAN NOT NULL DEFAULT true,
    "pausedReason" TEXT,
    "nextRunAt" TIMESTAMPTZ(3),
    "failures" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "schedules_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "schedule_runs" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "orgId" TEXT NOT NULL,
    "userId" TEXT NOT NULL,
    "scheduleId" TEXT NOT NULL,
    "dueAt" TIMESTAMPTZ(3) NOT NULL,
    "trigger" TEXT NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'PENDING',
    "runId" TEXT,
    "chatId" TEXT,
    "deliveryId" TEXT,
    "errorMessage" TEXT,
    "startedAt" TIMESTAMPTZ(3),
    "endedAt" TIMESTAMPTZ(3),

    CONSTRAINT "schedule_runs_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "schedules_orgId_userId_createdAt_id_idx" ON "schedules"("orgId", "userId", "createdAt", "id");

-- CreateIndex
CREATE INDEX "schedules_agentId_idx" ON "schedules"("agentId");

-- CreateIndex
CREATE INDEX "schedules_userId_idx" ON "schedules"("userId");

-- CreateIndex
CREATE INDEX "schedule_runs_scheduleId_createdAt_id_idx" ON "schedule_runs"("scheduleId", "createdAt", "id");

-- CreateIndex
CREATE INDEX "schedule_runs_orgId_userId_idx" ON "schedule_runs"("orgId", "userId");

-- CreateIndex
CREATE INDEX "schedule_runs_userId_idx" ON "schedule_runs"("userId");

-- CreateIndex
CREATE INDEX "schedule_runs_createdAt_idx" ON "schedule_runs"("createdAt");

-- AddForeignKey
ALTER TABLE "schedules" ADD CONSTRAINT "schedules_agentId_fkey" FOREIGN KEY ("agentId") REFERENCES "agents"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "schedule_runs" ADD CONSTRAINT "schedule_runs_scheduleId_fkey" FOREIGN KEY ("scheduleId") REFERENCES "schedules"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- What is due, by its time.
CREATE INDEX "schedules_due" ON "schedules" ("nextRunAt") WHERE "isEnabled";

-- What is not over: at most one of a schedule.
CREATE UNIQUE INDEX "schedule_runs_open" ON "schedule_runs" ("scheduleId") WHERE status IN ('PENDING', 'RUNNING');

-- Runs of a schedule carry its id where others carry that of a key: they end with it, on every instance.
CREATE TRIGGER parley_announce AFTER DELETE OR UPDATE OF "userId"
  ON "schedules" FOR EACH ROW WHEN (current_setting('parley.single_process', true) IS DISTINCT FROM 'on')
  EXECUTE FUNCTION parley_announce('key-changed', 'id');
