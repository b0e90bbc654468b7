-- Runs of chats in the bin, out of sight of everything that reads runs. Their events stay where they are: nothing reads those without the run.
CREATE TABLE "binned_runs" (
    "runId" TEXT NOT NULL,
    "chatId" TEXT NOT NULL,
    "endedAt" TIMESTAMPTZ(3) NOT NULL,
    "hasEvents" BOOLEAN NOT NULL,
    "run" JSON NOT NULL,
    "items" JSON,
    "folded" JSON,

    CONSTRAINT "binned_runs_pkey" PRIMARY KEY ("runId"),
    CONSTRAINT "binned_runs_chatId_fkey" FOREIGN KEY ("chatId") REFERENCES "chats"("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "binned_runs_chatId_idx" ON "binned_runs"("chatId");
CREATE INDEX "binned_runs_endedAt_runId_idx" ON "binned_runs"("endedAt", "runId");
