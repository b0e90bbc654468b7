-- CreateTable
CREATE TABLE "call_approvals" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,
    "orgId" TEXT NOT NULL,
    "userId" TEXT NOT NULL,
    "runId" TEXT NOT NULL,
    "functionName" TEXT NOT NULL,
    "parameters" JSON NOT NULL,
    "answeredAt" TIMESTAMPTZ(3),

    CONSTRAINT "call_approvals_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "call_approvals_expiresAt_idx" ON "call_approvals"("expiresAt");

-- AddForeignKey
ALTER TABLE "call_approvals" ADD CONSTRAINT "call_approvals_orgId_fkey" FOREIGN KEY ("orgId") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;
