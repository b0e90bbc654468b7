-- CreateIndex
CREATE INDEX "run_event_batches_createdAt_idx" ON "run_event_batches" USING BRIN ("createdAt");
