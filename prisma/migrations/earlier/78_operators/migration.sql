-- People who administer the installation, and what was made with that reach: links, passwords, passkeys and the sessions that they begin.
ALTER TABLE "users" ADD COLUMN "isOperator" BOOLEAN NOT NULL DEFAULT false;
ALTER TABLE "sessions" ADD COLUMN "level" TEXT NOT NULL DEFAULT 'ORGANIZATION';
ALTER TABLE "sign_in_links" ADD COLUMN "level" TEXT NOT NULL DEFAULT 'ORGANIZATION';
ALTER TABLE "passwords" ADD COLUMN "level" TEXT NOT NULL DEFAULT 'ORGANIZATION';
ALTER TABLE "passkeys" ADD COLUMN "level" TEXT NOT NULL DEFAULT 'ORGANIZATION';

-- Instances drop the callers of somebody who becomes an operator, or is none any more.
CREATE TRIGGER parley_announce AFTER UPDATE OF "isOperator"
  ON "users" FOR EACH ROW WHEN (current_setting('parley.single_process', true) IS DISTINCT FROM 'on')
  EXECUTE FUNCTION parley_announce('user-changed', 'id');
