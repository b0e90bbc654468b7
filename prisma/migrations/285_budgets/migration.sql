-- What an organization, or a group, a person, a key or an agent of it, may use in a day or a month. Days and months begin by the clock of the organization.
ALTER TABLE "organizations" ADD COLUMN "timeZone" TEXT NOT NULL DEFAULT 'UTC';

CREATE TABLE "budgets" (
    "id" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,
    "orgId" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "subjectId" TEXT NOT NULL,
    "period" TEXT NOT NULL,
    "unit" TEXT NOT NULL,
    "amount" BIGINT NOT NULL,
    "allowsUnpricedModels" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "budgets_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "budgets_orgId_fkey" FOREIGN KEY ("orgId") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE UNIQUE INDEX "budgets_orgId_subjectId_period_unit_key" ON "budgets"("orgId", "subjectId", "period", "unit");
CREATE INDEX "budgets_orgId_createdAt_id_idx" ON "budgets"("orgId", "createdAt", "id");
CREATE INDEX "budgets_subjectId_idx" ON "budgets"("subjectId");

-- As in 160_start: processes keep the limits of organizations in memory, with their budgets.
CREATE TRIGGER parley_announce AFTER INSERT OR DELETE OR UPDATE
  ON "budgets" FOR EACH ROW WHEN (current_setting('parley.single_process', true) IS DISTINCT FROM 'on')
  EXECUTE FUNCTION parley_announce('organization-changed', 'orgId');

-- A budget ends with what it is of, whichever statement deletes that.
CREATE FUNCTION parley_delete_budgets() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM budgets WHERE "subjectId" = OLD.id;
  RETURN NULL;
END;
$$;
CREATE TRIGGER parley_delete_budgets AFTER DELETE ON "groups" FOR EACH ROW EXECUTE FUNCTION parley_delete_budgets();
CREATE TRIGGER parley_delete_budgets AFTER DELETE ON "users" FOR EACH ROW EXECUTE FUNCTION parley_delete_budgets();
CREATE TRIGGER parley_delete_budgets AFTER DELETE ON "api_keys" FOR EACH ROW EXECUTE FUNCTION parley_delete_budgets();
CREATE TRIGGER parley_delete_budgets AFTER DELETE ON "agents" FOR EACH ROW EXECUTE FUNCTION parley_delete_budgets();

-- The counters of a budget have its id and the day or month as their kind.
CREATE FUNCTION parley_delete_budget_counters() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM usage_counters WHERE "orgId" = OLD."orgId" AND starts_with(kind, OLD.id || ' ');
  RETURN NULL;
END;
$$;
CREATE TRIGGER parley_delete_budget_counters AFTER DELETE ON "budgets" FOR EACH ROW EXECUTE FUNCTION parley_delete_budget_counters();

-- What a call cost when it was made, in billionths of the currency; null: its model had no price.
ALTER TABLE "usage_entries" ADD COLUMN "cost" BIGINT;

-- The highest mark of its budget that webhooks were told of.
ALTER TABLE "usage_counters" ADD COLUMN "percentTold" SMALLINT NOT NULL DEFAULT 0;

-- The counter of a budget is weighed by a trigger of its own.
DROP TRIGGER parley_webhook_limit_near ON usage_counters;
CREATE TRIGGER parley_webhook_limit_near AFTER INSERT OR UPDATE OF used ON usage_counters FOR EACH ROW
  WHEN (NEW.kind NOT LIKE 'bud\_%') EXECUTE FUNCTION parley_webhook_limit_near();

-- A budget holds for its day or month, so each mark is passed once, until the amount is changed. The row of the counter is locked by who adds to it: of
-- several instances one passes the mark.
CREATE FUNCTION parley_mark_budget() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  mark INTEGER;
BEGIN
  SELECT max(reached) INTO mark FROM budgets, unnest(ARRAY[80, 100]) AS reached
    WHERE id = split_part(NEW.kind, ' ', 1) AND NEW.used::numeric * 100 >= amount::numeric * reached;
  UPDATE usage_counters SET "percentTold" = mark WHERE "orgId" = NEW."orgId" AND kind = NEW.kind AND "percentTold" < mark;
  RETURN NULL;
END;
$$;
CREATE TRIGGER parley_mark_budget AFTER INSERT OR UPDATE OF used ON usage_counters FOR EACH ROW
  WHEN (NEW.kind LIKE 'bud\_%') EXECUTE FUNCTION parley_mark_budget();

-- Also told when a call was refused because too little is left: then the mark of 100 is set without further use.
CREATE FUNCTION parley_webhook_budget_reached() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE budget RECORD;
BEGIN
  IF NOT EXISTS (SELECT 1 FROM webhooks WHERE "orgId" = NEW."orgId") THEN RETURN NULL; END IF;
  SELECT * INTO budget FROM budgets WHERE id = split_part(NEW.kind, ' ', 1);
  IF FOUND THEN
    PERFORM parley_webhook_deliveries(NEW."orgId", CASE budget.subject WHEN 'USER' THEN budget."subjectId" END, NULL, 'budget.reached',
      json_build_object('budgetId', budget.id, 'subject', lower(budget.subject), 'subjectId', budget."subjectId", 'period', lower(budget.period),
        'from', split_part(NEW.kind, ' ', 2), 'unit', lower(budget.unit), 'percent', NEW."percentTold",
        'used', CASE budget.unit WHEN 'MONEY' THEN trim_scale(NEW.used / 1e9) ELSE NEW.used END,
        'limit', CASE budget.unit WHEN 'MONEY' THEN trim_scale(budget.amount / 1e9) ELSE budget.amount END));
  END IF;
  RETURN NULL;
END;
$$;
CREATE TRIGGER parley_webhook_budget_reached AFTER UPDATE OF "percentTold" ON usage_counters
  FOR EACH ROW WHEN (NEW."percentTold" > OLD."percentTold") EXECUTE FUNCTION parley_webhook_budget_reached();

-- Another amount has marks of its own.
CREATE FUNCTION parley_forget_budget_marks() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE usage_counters SET "percentTold" = 0 WHERE "orgId" = NEW."orgId" AND starts_with(kind, NEW.id || ' ') AND "percentTold" > 0;
  RETURN NULL;
END;
$$;
CREATE TRIGGER parley_forget_budget_marks AFTER UPDATE OF amount ON "budgets"
  FOR EACH ROW WHEN (OLD.amount <> NEW.amount) EXECUTE FUNCTION parley_forget_budget_marks();
