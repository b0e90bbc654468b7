-- The sums by month of people, keys and agents, so that a report over half a year reads a few rows of each and not one for every day. Triggers keep them,
-- also for programs that know only the sums by day. Of models there are few: their days are enough.
CREATE TABLE "usage_months" (
    "dataTokens" BIGINT NOT NULL DEFAULT 0,
    "apiTokens" BIGINT NOT NULL DEFAULT 0,
    "month" DATE NOT NULL,
    "orgId" TEXT NOT NULL,
    "dimension" TEXT NOT NULL,
    "value" TEXT NOT NULL,

    CONSTRAINT "usage_months_pkey" PRIMARY KEY ("orgId","dimension","month","value")
) PARTITION BY LIST ("dimension");
-- A report is of one of them: its rows share their pages with no others.
CREATE TABLE "usage_months_agent" PARTITION OF "usage_months" FOR VALUES IN ('agent');
CREATE TABLE "usage_months_user" PARTITION OF "usage_months" FOR VALUES IN ('user');
CREATE TABLE "usage_months_key" PARTITION OF "usage_months" FOR VALUES IN ('key');
-- Rows of equal keys are in the order of the table, so a month is read page by page; in the order of the primary key each row is on another page.
CREATE INDEX "usage_months_orgId_dimension_month_idx" ON "usage_months"("orgId", "dimension", "month");

CREATE FUNCTION parley_keep_usage_months() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  changed RECORD;
  of_dimension TEXT;
  of_value TEXT;
  data BIGINT := 0;
  api BIGINT := 0;
BEGIN
  IF TG_OP = 'DELETE' THEN changed := OLD; ELSE changed := NEW; END IF;
  IF TG_TABLE_NAME = 'usage_days' THEN
    of_dimension := 'agent';
    of_value := changed."agentId";
  ELSE
    of_dimension := changed."dimension";
    of_value := changed."value";
    IF of_dimension = 'model' THEN RETURN NULL; END IF;
  END IF;
  IF TG_OP <> 'DELETE' THEN
    data := NEW."dataTokens";
    api := NEW."apiTokens";
  END IF;
  IF TG_OP <> 'INSERT' THEN
    data := data - OLD."dataTokens";
    api := api - OLD."apiTokens";
  END IF;
  IF TG_OP = 'DELETE' THEN
    UPDATE "usage_months" SET "dataTokens" = "dataTokens" + data, "apiTokens" = "apiTokens" + api
      WHERE "orgId" = changed."orgId" AND "dimension" = of_dimension AND "month" = date_trunc('month', changed."day")::date AND "value" = of_value;
    -- A person who was erased leaves no row behind.
    DELETE FROM "usage_months" WHERE "orgId" = changed."orgId" AND "dimension" = of_dimension
      AND "month" = date_trunc('month', changed."day")::date AND "value" = of_value AND "dataTokens" = 0 AND "apiTokens" = 0;
  ELSE
    INSERT INTO "usage_months" AS m ("orgId", "dimension", "month", "value", "dataTokens", "apiTokens")
      VALUES (changed."orgId", of_dimension, date_trunc('month', changed."day")::date, of_value, data, api)
      ON CONFLICT ("orgId", "dimension", "month", "value") DO UPDATE
        SET "dataTokens" = m."dataTokens" + excluded."dataTokens", "apiTokens" = m."apiTokens" + excluded."apiTokens";
  END IF;
  RETURN NULL;
END $$;

-- Writers of the ledger wait from here until the end of the migration: what they add is in the months once, by the triggers or by what follows.
CREATE TRIGGER parley_keep_usage_months AFTER INSERT OR DELETE OR UPDATE OF "dataTokens", "apiTokens" ON "usage_days"
  FOR EACH ROW EXECUTE FUNCTION parley_keep_usage_months();
CREATE TRIGGER parley_keep_usage_months AFTER INSERT OR DELETE OR UPDATE OF "dataTokens", "apiTokens" ON "usage_sums"
  FOR EACH ROW EXECUTE FUNCTION parley_keep_usage_months();

INSERT INTO "usage_months" ("orgId", "dimension", "month", "value", "dataTokens", "apiTokens")
SELECT "orgId", 'agent', date_trunc('month', "day")::date, "agentId", sum("dataTokens"), sum("apiTokens") FROM "usage_days" GROUP BY 1, 3, 4
UNION ALL
SELECT "orgId", "dimension", date_trunc('month', "day")::date, "value", sum("dataTokens"), sum("apiTokens") FROM "usage_sums"
WHERE "dimension" <> 'model' GROUP BY 1, 2, 3, 4
ORDER BY 1, 2, 3, 4;
