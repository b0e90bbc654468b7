-- A chat that its user deleted stays in the bin for some days: hidden by "deletedAt" like every deleted one, and with what was said in it.
ALTER TABLE "chats" ADD COLUMN "isBinned" BOOLEAN NOT NULL DEFAULT false;
CREATE INDEX "chats_binned" ON "chats" ("deletedAt", "id") WHERE "isBinned";
CREATE INDEX "chats_binned_of_user" ON "chats" ("userId", "deletedAt" DESC, "id" DESC) WHERE "isBinned";

-- What was in the bin before a hold began is kept by it. The bin is empty here, so the indexes above are made at once.
CREATE TRIGGER parley_refuse_held_emptied AFTER UPDATE OF "isBinned" ON "chats" FOR EACH ROW WHEN (OLD."isBinned" AND NOT NEW."isBinned" AND NEW."deletedAt" IS NOT NULL)
  EXECUTE FUNCTION parley_refuse_held('SELECT "orgId", "userId" FROM gone');
