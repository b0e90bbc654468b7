import pino from 'pino';
import { keepOpenItems } from '../../../src/domain/knowledge/permissions/open-items.ts';
import { PermissionReaders } from '../../../src/engine/knowledge/connectors/registry.ts';
import { rankChunks } from '../../../src/engine/knowledge/search/words.ts';
import { sweepPermissions } from '../../../src/engine/knowledge/sync/permission-jobs.ts';
import { syncPermissions } from '../../../src/engine/knowledge/sync/sync-permissions.ts';
import { makeId } from '../../../src/entities/ground/ids.ts';
import type { Settings } from '../../../src/settings.ts';
import { ChunkRanking } from '../../../src/storage/knowledge/passages/chunk-ranking.ts';
import { Company } from './company.ts';
import type { SimulatedParley } from './parley.ts';
import { Choices } from './random.ts';
import type { SimulatedServer } from './server.ts';
import type { Timeline } from './timeline.ts';

/** A person of the organization. With the connection, the person proves to be the account. */
export interface Employee {
  readonly userId: string;
  readonly connectionId: string;
  readonly account: string;
}

/** What somebody was shown. */
export interface Seen {
  readonly person: Employee;
  readonly way: 'search' | 'list';
  readonly host: string;
  /** When the search began and ended, by the database. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly documents: ReadonlySet<string>;
  /** After everything came to rest: nothing is late any more. */
  readonly isAtRest: boolean;
}

/**
 * What the database notes of permissions: which version of a document's rights, of a roster and of a person's proof was written, when and by whom.
 * `world.ms` is the time of the first statement of the transaction, which has the database to itself.
 */
export const permissionNotes = `
  create table world.permissions (place bigserial, ms float8, host text, "orgId" text, kind text, id text, version int);
  create function world.note_item() returns trigger language plpgsql as $$ begin
    insert into world.permissions (ms, host, "orgId", kind, id, version)
      select current_setting('world.ms')::float8, current_setting('world.host'), new."orgId", 'document', new."uniqueId", coalesce(
        substring(new."accessUnknown"->>'message' from 'version (\\d+)')::int,
        (select max(substring(named.key from 'version (\\d+)')::int) from access_rules rule join access_sets list on list.id = any(rule."setIds")
          join permission_principals named on named.id = any(list.principals) where rule.id = new."accessRuleId"), -1);
    return null;
  end $$;
  create trigger world_note_item after update of "accessRuleId", "accessUnknown" on knowledge_items for each row execute function world.note_item();
  create function world.note_member() returns trigger language plpgsql as $$ begin
    insert into world.permissions (ms, host, "orgId", kind, id, version)
      select current_setting('world.ms')::float8, current_setting('world.host'), roster."orgId", 'group', roster.key,
        substring(member.key from 'version (\\d+)')::int
      from permission_principals roster, permission_principals member
      where roster.id = new."groupId" and member.id = new."memberId" and member.key ~ 'version \\d+';
    return null;
  end $$;
  create trigger world_note_member after insert on permission_members for each row execute function world.note_member();
  create function world.note_unknown() returns trigger language plpgsql as $$ begin
    insert into world.permissions (ms, host, "orgId", kind, id, version) values (current_setting('world.ms')::float8, current_setting('world.host'),
      new."orgId", 'group', new.key, substring(new.unknown->>'message' from 'version (\\d+)')::int);
    return null;
  end $$;
  create trigger world_note_unknown after update on permission_principals for each row
    when (new.unknown is not null and new.unknown is distinct from old.unknown) execute function world.note_unknown();
  create function world.note_account() returns trigger language plpgsql as $$ begin
    insert into world.permissions (ms, host, "orgId", kind, id, version) values (current_setting('world.ms')::float8, current_setting('world.host'),
      coalesce(new."orgId", old."orgId"), 'account', coalesce(new."userId", old."userId"), case when tg_op = 'DELETE' then 0 else 1 end);
    return null;
  end $$;
  create trigger world_note_account after insert or update or delete on person_accounts for each row execute function world.note_account();`;

/** Share of pages whose reader stands still. */
const stopShare = 0.15;
const word = 'plan';
const quiet = pino({ level: 'silent' });

export interface PermissionWorldParts {
  readonly seed: number;
  readonly timeline: Timeline;
  readonly server: SimulatedServer;
  readonly settings: Settings;
  readonly orgId: string;
  readonly tenantId: string;
  readonly living: () => readonly SimulatedParley[];
}

/** People who search the documents of a company while processes read who may open them, and while that changes. */
export class PermissionWorld {
  readonly company: Company;
  readonly people: readonly Employee[];
  readonly seen: Seen[] = [];
  readonly sourceId = makeId('dataSource', Date.now());
  /** A source beside it that is LENT and empty: then a search is not held to documents by their ids, but by their rules. */
  readonly #lentId = makeId('dataSource', Date.now());
  readonly #parts: PermissionWorldParts;
  readonly #choices: Choices;
  readonly #readers: PermissionReaders;
  readonly #documentIds = new Map<string, string>();
  readonly #searches: number;
  #isTroubled = true;
  /** When the last reading began that could see everything. */
  #calmFromMs = Number.POSITIVE_INFINITY;
  #waiting = 0;

  constructor(parts: PermissionWorldParts) {
    this.#parts = parts;
    this.#choices = new Choices(parts.seed + 5);
    this.#searches = this.#choices.between(3, 8);
    this.company = new Company(new Choices(parts.seed + 6));
    this.people = this.company.accounts.map((account) => ({
      userId: makeId('user', Date.now()),
      connectionId: `con_${makeId('user', Date.now())}`,
      account,
    }));
    const failShare = this.#choices.chance(0.4) ? 0.15 : 0;
    const fails = () => this.#isTroubled && this.#choices.chance(failShare);
    const reader = this.company.reader(new Choices(parts.seed + 7), fails, () => this.#stopReader());
    this.#readers = new PermissionReaders(new Map([['DRIVE_A', reader]]));
  }

  /** Makes people and documents, of whose permissions nothing is known. */
  async begin(put: (text: string, ...values: readonly unknown[]) => Promise<unknown>): Promise<void> {
    const { orgId, tenantId } = this.#parts;
    const { sourceId } = this;
    for (const { userId, connectionId, account } of this.people) {
      await put(
        `insert into users (id, "tenantId", email, name, "updatedAt") values ($1, $2, $1 || '@world.invalid', 'one', now())`,
        ...[userId, tenantId],
      );
      await put(`insert into memberships (id, "orgId", "userId") values ('mem' || $2, $1, $2)`, orgId, userId);
      await put(
        `insert into connections (id, "updatedAt", "orgId", "ownerUserId", kind, provider, name, scopes, sealed)
         values ($1, now(), $2, $3, 'OAUTH', 'GOOGLE', 'own', '{}', '')`,
        ...[connectionId, orgId, userId],
      );
      await put(
        `insert into person_accounts ("connectionId", "userId", "orgId", service, "accountId", "provenAt") values ($1, $2, $3, 'google', $4, now())`,
        ...[connectionId, userId, orgId, account],
      );
    }
    await put(
      `insert into data_sources (id, "updatedAt", "orgId", "ownerUserId", name, type, access, data)
       values ($1, now(), $2, $3, 'Drive', 'DRIVE_A', 'MIRRORED', '{"connectionId": "none"}')`,
      ...[sourceId, orgId, this.people[0]?.userId],
    );
    await put(
      `insert into data_sources (id, "updatedAt", "orgId", "ownerUserId", name, type) values ($1, now(), $2, $3, 'Files', 'FILE_UPLOAD')`,
      ...[this.#lentId, orgId, this.people[0]?.userId],
    );
    const key = Number.parseInt(sourceId.slice(-5), 36);
    for (const document of this.company.documents.keys()) {
      const id = makeId('knowledgeItem', Date.now());
      this.#documentIds.set(id, document);
      await put(
        `insert into knowledge_items (id, "updatedAt", "orgId", "dataSourceId", name, "uniqueId", type, "indexStatus", "liveGeneration", "lastGeneration")
         values ($1, now(), $2, $3, $4, $4, 'FILE', 'INDEXED', 1, 1)`,
        ...[id, orgId, sourceId, document],
      );
      await put(
        `with chunk as (insert into chunks (data_source_id, item_id, generation, ordinal, length, term_keys, term_counts)
           values ($1, $2, 1, 0, 1, array[$3::int], array[1::smallint]) returning id)
         insert into chunk_texts (chunk_id, heading_path, text, gap_before, config, token_count, content_hash, char_start, char_end)
         select id, '', $4, '', 'simple', 1, $2, 0, 4 from chunk`,
        ...[sourceId, id, key, word],
      );
    }
    await put(
      `insert into lexeme_frequencies (data_source_id, key, config, term, df) values ($1, $2, 'simple', $3, $4)`,
      ...[sourceId, key, word, this.company.documents.size],
    );
    await put(
      `insert into lexeme_statistics (data_source_id, config, chunks, sum_length) values ($1, 'simple', $2, $2)`,
      ...[sourceId, this.company.documents.size],
    );
  }

  /** Readings, changes, searches and lost accounts, spread over the troubled time. */
  beBusy(troubledMs: number): void {
    const choices = this.#choices;
    const { timeline } = this.#parts;
    const often = (count: number, act: () => unknown) => {
      for (let n = 0; n < count; n += 1) timeline.after(choices.fraction * troubledMs, act);
    };
    // The first reading comes soon, so that something is open for most of the time.
    timeline.after(50, () => this.#useOne((parley) => this.#read(parley)));
    often(choices.between(1, 2), () => this.#useOne((parley) => this.#read(parley)));
    often(choices.between(2, 8), () => this.company.change());
    often(this.#searches, () => this.#useOne((parley) => this.#search(parley, choices.one(this.people), false)));
    often(choices.between(0, 2), () => this.#useOne((parley) => this.#proveOrLose(parley, choices.one(this.people))));
    often(choices.between(0, 1), () => this.#useOne(({ storage }) => sweepPermissions(storage, new AbortController().signal)));
  }

  /** Now and then the machine of a reader stands still while a page is under way, and the company changes: another process takes the reading over. */
  #stopReader(): void {
    const choices = this.#choices;
    const { timeline, settings } = this.#parts;
    const { host } = timeline;
    if (!this.#isTroubled || host === undefined || !choices.chance(stopShare)) return;
    host.stoppedUntilMs = timeline.nowMs + settings.INDEX_LEASE_MS * (1 + 2 * choices.fraction);
    this.company.change();
    this.company.change();
    timeline.after(settings.INDEX_LEASE_MS * 1.1, () => this.#useOne((parley) => this.#read(parley)));
  }

  /** Nothing changes any more: a process reads until all is read. */
  rest(): void {
    this.#isTroubled = false;
    const { timeline } = this.#parts;
    this.#calmFromMs = timeline.databaseMs;
    const again = () => {
      if (this.isRead) return;
      this.#useOne((parley) => this.#read(parley));
      timeline.after(1_500, again);
    };
    again();
  }

  /** Whether everything was read since the company came to rest. */
  isRead = false;

  /** Whether all that was asked is answered. */
  get isAnswered(): boolean {
    return this.#waiting === 0;
  }

  /** Everybody searches, at every process. */
  searchEverywhere(): void {
    for (const parley of this.#parts.living())
      for (const person of this.people) this.#use(parley, (own) => this.#search(own, person, true));
  }

  /** Somebody asks a process, which may die meanwhile: nobody waits for it here. */
  #useOne(act: (parley: SimulatedParley) => Promise<unknown>): void {
    const living = this.#parts.living();
    if (living.length > 0) this.#use(this.#choices.one(living), act);
  }

  #use(parley: SimulatedParley, act: (parley: SimulatedParley) => Promise<unknown>): void {
    const { timeline } = this.#parts;
    if (!this.#isTroubled) this.#waiting += 1;
    const settle = () => {
      if (!this.#isTroubled) this.#waiting -= 1;
    };
    // What a broken connection ends is not known to whoever asked.
    const run = () => void act(parley).then(settle, settle);
    timeline.after(0, () => timeline.in(parley.host, run), parley.host);
  }

  async #read({ storage }: SimulatedParley): Promise<void> {
    const { settings, timeline, server } = this.#parts;
    const beganMs = timeline.databaseMs;
    // A reading that goes on has told a part before, which may have changed.
    const [before] = await server.look<{ isOpen: boolean }>(
      `select "startedAt" is not null as "isOpen" from permission_readings where "dataSourceId" = $1`,
      [this.sourceId],
    );
    const context = {
      settings,
      storage,
      logger: quiet,
      permissionReaders: this.#readers,
      owner: `job ${makeId('user', Date.now())}`,
    };
    await syncPermissions(context, this.sourceId, new AbortController().signal);
    if (beganMs < this.#calmFromMs || before?.isOpen === true) return;
    const [row] = await server.look<{ isRead: boolean }>(
      `select "fullAt" >= to_timestamp($2::float8 / 1000) and "startedAt" is null as "isRead" from permission_readings where "dataSourceId" = $1`,
      [this.sourceId, beganMs],
    );
    if (row?.isRead === true) this.isRead = true;
  }

  async #search({ host, storage }: SimulatedParley, person: Employee, isAtRest: boolean): Promise<void> {
    const { timeline, orgId } = this.#parts;
    const reader = { orgId, userId: person.userId, keyId: null };
    const note = (way: Seen['way'], fromMs: number, itemIds: readonly string[]) => {
      const documents = new Set(itemIds.map((id) => this.#documentIds.get(id) ?? id));
      this.seen.push({ person, way, host: host.name, fromMs, toMs: timeline.databaseMs, documents, isAtRest });
    };
    const searchedMs = timeline.databaseMs;
    const dataSourceIds = this.#choices.chance(0.5) ? [this.sourceId] : [this.sourceId, this.#lentId];
    const gate = await storage.knowledge.permissions.gates.open(reader, dataSourceIds);
    const scope = { orgId, dataSourceIds, ...(gate === undefined ? {} : { gate }) };
    const chunks = await rankChunks(new ChunkRanking(storage.db), scope, word, 32);
    note(
      'search',
      searchedMs,
      chunks.map(({ itemId }) => itemId),
    );
    const listedMs = timeline.databaseMs;
    const items = [...this.#documentIds.keys()].map((id) => ({ id, dataSourceId: this.sourceId }));
    note(
      'list',
      listedMs,
      (await keepOpenItems({ storage }, reader, items)).map(({ id }) => id),
    );
  }

  /** A person's connection proves the account, or proves nothing any more. */
  async #proveOrLose({ storage }: SimulatedParley, { userId, connectionId, account }: Employee): Promise<void> {
    const connection = { id: connectionId, orgId: this.#parts.orgId, ownerUserId: userId };
    const identity = this.#choices.chance(0.6) ? ({ service: 'google', accountId: account } as const) : undefined;
    await storage.knowledge.permissions.proveAccount(connection, identity);
  }
}
