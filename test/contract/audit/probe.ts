import { expect } from 'vitest';
import { eventually } from '../../support/processes/eventually.ts';
import type { TestService } from '../../support/service.ts';

/** A row that a committed transaction wrote or removed. */
export interface Written {
  readonly position: string;
  readonly transaction: string;
  readonly table: string;
  /** For an audit entry: the request that it is about, its kind and its outcome. */
  readonly requestId: string | null;
  readonly kind: string | null;
  readonly outcome: string | null;
  readonly operation: string;
}

/** Requests whose id begins with this text cannot write their audit entry. */
export const entryFails = 'entry-fails';

/** Tables of the service itself: counters, reservations, data keys, tickets, cache invalidations. Entries cover all others, also a future one. */
const ownTables = [
  'agent_message_counts',
  'cache_invalidations',
  'idempotency_records',
  'installations',
  'organization_keys',
  'parley_migrations',
  'rate_buckets',
  'repeated_tasks',
  'sweep_places',
  'usage_counters',
  'usage_days',
  'usage_entries',
  'usage_months',
  'usage_reservations',
  'usage_sums',
  'used_tickets',
];

/**
 * Watches the database itself, so that no statement escapes: triggers note each written row, with its transaction, in a table that rolls back with
 * it.
 */
export class Probe {
  readonly #service: TestService;
  #last = 0;

  constructor(service: TestService) {
    this.#service = service;
  }

  async install(): Promise<void> {
    const { pool } = this.#service.deps.storage.db;
    await pool.query(`
      create schema audit_probe;
      create table audit_probe.written (position bigserial, transaction text, "table" text, "requestId" text, kind text, outcome text, operation text);
      create table audit_probe.settings ("changesFail" boolean);
      insert into audit_probe.settings values (false);
      create function audit_probe.note() returns trigger language plpgsql as $$
      begin
        -- Runs that are not stored are lines of the usage ledger, which writes them by a timer.
        if tg_table_name = 'runs' and tg_op = 'INSERT' then
          if not (to_jsonb(new)->>'isStored')::boolean then return null; end if;
        end if;
        -- Messages of turns are counted by a timer.
        if tg_table_name = 'agents' and tg_op = 'UPDATE' then
          if to_jsonb(new) - 'messageCount' = to_jsonb(old) - 'messageCount' then return null; end if;
        end if;
        if (select "changesFail" from audit_probe.settings) then raise exception 'this change was made to fail'; end if;
        -- When a key was last used is written by a timer.
        if tg_table_name = 'api_keys' and tg_op = 'UPDATE' then
          if to_jsonb(new) - 'lastUsedAt' = to_jsonb(old) - 'lastUsedAt' then return null; end if;
        end if;
        insert into audit_probe.written (transaction, "table", operation) values (pg_current_xact_id()::text, tg_table_name, tg_op);
        return null;
      end $$;
      create function audit_probe.note_entry() returns trigger language plpgsql as $$
      begin
        if new."requestId" like '${entryFails}%' then raise exception 'the log of changes is full'; end if;
        insert into audit_probe.written (transaction, "table", "requestId", kind, outcome, operation)
          values (pg_current_xact_id()::text, 'audit_entries', new."requestId", new.kind, new.outcome, tg_op);
        return null;
      end $$;
      create trigger probe after insert or update on audit_entries for each row execute function audit_probe.note_entry();`);
    const { rows } = await pool.query<{ name: string }>(
      `select quote_ident(table_name) as name from information_schema.tables
       where table_schema = 'public' and table_type = 'BASE TABLE' and table_name <> all($1) and table_name <> 'audit_entries'
         and not (select relispartition from pg_class where oid = quote_ident(table_name)::regclass)`,
      [ownTables],
    );
    for (const { name } of rows) {
      await pool.query(
        `create trigger probe after insert or update or delete on ${name} for each row execute function audit_probe.note()`,
      );
    }
  }

  /** Every row written since the last call, in order. */
  async take(): Promise<readonly Written[]> {
    const { rows } = await this.#service.deps.storage.db.pool.query<Written>(
      'select * from audit_probe.written where position > $1 order by position',
      [this.#last],
    );
    this.#last = Number(rows.at(-1)?.position ?? this.#last);
    return rows;
  }

  /** Waits until no run is active, and drops the rows written until then. */
  async quiet(): Promise<void> {
    const { pool } = this.#service.deps.storage.db;
    await eventually(async () => {
      const { rows } = await pool.query(`select id from runs where status = 'in_progress'`);
      expect(rows).toEqual([]);
      expect(await this.take()).toEqual([]);
    });
  }

  async failChanges(fails: boolean): Promise<void> {
    await this.#service.deps.storage.db.pool.query('update audit_probe.settings set "changesFail" = $1', [fails]);
  }
}
