-- A hold on a person is told by whose a row is. Handed over, the thing would be somebody's whom no hold concerns, who could delete it. A hold on the whole
-- organization keeps it whosever it is, so that one refuses nothing here.
CREATE TRIGGER parley_refuse_held_handover AFTER UPDATE OF "userId" ON "agents" FOR EACH ROW WHEN (OLD."userId" <> NEW."userId")
  EXECUTE FUNCTION parley_refuse_held('SELECT gone."orgId", gone."userId" FROM gone JOIN "legal_holds" own ON own."endedAt" IS NULL AND own."orgId" = gone."orgId" AND own."userId" = gone."userId"');
CREATE TRIGGER parley_refuse_held_handover AFTER UPDATE OF "ownerUserId" ON "data_sources" FOR EACH ROW WHEN (OLD."ownerUserId" <> NEW."ownerUserId")
  EXECUTE FUNCTION parley_refuse_held('SELECT gone."orgId", gone."ownerUserId" FROM gone JOIN "legal_holds" own ON own."endedAt" IS NULL AND own."orgId" = gone."orgId" AND own."userId" = gone."ownerUserId"');
CREATE TRIGGER parley_refuse_held_handover AFTER UPDATE OF "userId" ON "schedules" FOR EACH ROW WHEN (OLD."userId" <> NEW."userId")
  EXECUTE FUNCTION parley_refuse_held('SELECT gone."orgId", gone."userId" FROM gone JOIN "legal_holds" own ON own."endedAt" IS NULL AND own."orgId" = gone."orgId" AND own."userId" = gone."userId"');
