-- The daily and monthly sums of the ledger have the cost too, so that a report reads no calls.
ALTER TABLE "usage_days" ADD COLUMN "cost" BIGINT NOT NULL DEFAULT 0;
ALTER TABLE "usage_sums" ADD COLUMN "cost" BIGINT NOT NULL DEFAULT 0;
ALTER TABLE "usage_months" ADD COLUMN "cost" BIGINT NOT NULL DEFAULT 0;

CREATE OR REPLACE FUNCTION parley_keep_usage_months() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  changed RECORD;
  of_dimension TEXT;
  of_value TEXT;
  data BIGINT := 0;
  api BIGINT := 0;
  spent BIGINT := 0;
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
    spent := NEW."cost";
  END IF;
  IF TG_OP <> 'INSERT' THEN
    data := data - OLD."dataTokens";
    api := api - OLD."apiTokens";
    spent := spent - OLD."cost";
  END IF;
  IF TG_OP = 'DELETE' THEN
    UPDATE "usage_months" SET "dataTokens" = "dataTokens" + data, "apiTokens" = "apiTokens" + api, "cost" = "cost" + spent
      WHERE "orgId" = changed."orgId" AND "dimension" = of_dimension AND "month" = date_trunc('month', changed."day")::date AND "value" = of_value;
    -- A person who was erased leaves no row behind.
    DELETE FROM "usage_months" WHERE "orgId" = changed."orgId" AND "dimension" = of_dimension
      AND "month" = date_trunc('month', changed."day")::date AND "value" = of_value AND "dataTokens" = 0 AND "apiTokens" = 0 AND "cost" = 0;
  ELSE
    INSERT INTO "usage_months" AS m ("orgId", "dimension", "month", "value", "dataTokens", "apiTokens", "cost")
      VALUES (changed."orgId", of_dimension, date_trunc('month', changed."day")::date, of_value, data, api, spent)
      ON CONFLICT ("orgId", "dimension", "month", "value") DO UPDATE
        SET "dataTokens" = m."dataTokens" + excluded."dataTokens", "apiTokens" = m."apiTokens" + excluded."apiTokens", "cost" = m."cost" + excluded."cost";
  END IF;
  RETURN NULL;
END $$;

DROP TRIGGER parley_keep_usage_months ON "usage_days";
DROP TRIGGER parley_keep_usage_months ON "usage_sums";
CREATE TRIGGER parley_keep_usage_months AFTER INSERT OR DELETE OR UPDATE OF "dataTokens", "apiTokens", "cost" ON "usage_days"
  FOR EACH ROW EXECUTE FUNCTION parley_keep_usage_months();
CREATE TRIGGER parley_keep_usage_months AFTER INSERT OR DELETE OR UPDATE OF "dataTokens", "apiTokens", "cost" ON "usage_sums"
  FOR EACH ROW EXECUTE FUNCTION parley_keep_usage_months();

-- What calls of before cost. The triggers add it to the months.
INSERT INTO "usage_days" AS d ("orgId", "day", "agentId", "cost")
SELECT entry."orgId", (entry."createdAt" AT TIME ZONE org."timeZone")::date, coalesce(entry."agentId", ''), sum(entry."cost")
FROM "usage_entries" AS entry JOIN "organizations" AS org ON org.id = entry."orgId" WHERE entry."cost" > 0 GROUP BY 1, 2, 3 ORDER BY 1, 3, 2
ON CONFLICT ("orgId", "day", "agentId") DO UPDATE SET "cost" = d."cost" + excluded."cost";

INSERT INTO "usage_sums" AS s ("orgId", "dimension", "day", "value", "cost")
SELECT entry."orgId", by.dimension, (entry."createdAt" AT TIME ZONE org."timeZone")::date, by.value, sum(entry."cost")
FROM "usage_entries" AS entry JOIN "organizations" AS org ON org.id = entry."orgId"
  CROSS JOIN LATERAL (VALUES ('user', entry."userId"), ('key', coalesce(entry."keyId", '')), ('model', entry."modelId")) AS by (dimension, value)
WHERE entry."cost" > 0 GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 4, 3
ON CONFLICT ("orgId", "dimension", "day", "value") DO UPDATE SET "cost" = s."cost" + excluded."cost";
