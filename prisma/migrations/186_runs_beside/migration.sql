-- A run that answers a message beside another one, on a branch of its own: that message. And the message of a chat whose answers stand beside each other.
ALTER TABLE "runs" ADD COLUMN "besideMessageId" TEXT;
ALTER TABLE "chats" ADD COLUMN "comparedMessageId" TEXT;
