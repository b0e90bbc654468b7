-- What people do with many chats: put them out of the list, and label them.
ALTER TABLE "chats" ADD COLUMN "archivedAt" TIMESTAMPTZ(3);
ALTER TABLE "chats" ADD COLUMN "tags" TEXT[] NOT NULL DEFAULT '{}';
