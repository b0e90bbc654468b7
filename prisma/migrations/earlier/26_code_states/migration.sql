-- CreateTable
CREATE TABLE "code_states" (
    "chatId" TEXT NOT NULL,
    "blobKey" TEXT NOT NULL,
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "code_states_pkey" PRIMARY KEY ("chatId")
);

-- CreateIndex
CREATE INDEX "code_states_expiresAt_idx" ON "code_states"("expiresAt");

-- CreateIndex
CREATE INDEX "code_states_blobKey_idx" ON "code_states"("blobKey");

-- AddForeignKey
ALTER TABLE "code_states" ADD CONSTRAINT "code_states_chatId_fkey" FOREIGN KEY ("chatId") REFERENCES "chats"("id") ON DELETE CASCADE ON UPDATE CASCADE;
