// Raw SQL: which items a person may open is counted only as far as it matters.
import type { RecheckMode } from '../../../entities/knowledge/permissions.ts';
import { BoundedMap } from '../../../lib/bounded-map.ts';
import type { Database } from '../../ground/database.ts';
import { InvalidatedCache } from '../../ground/invalidated-cache.ts';
import type { Signals } from '../../ground/signals/signals.ts';
import type { AccessGate } from './gate.ts';
import { findOpenRules, type Reader } from './open-rules.ts';

/** What a person opens is remembered for so long, unless a signal says that it changed. */
const ageMaxMs = 30_000;
const gatesMax = 500;
/** Up to so many items are named to a search, which then reads their passages instead of looking for them among all. */
const itemsMax = 1_000;

interface RememberedGate {
  readonly gate: AccessGate;
  readonly madeAtMs: number;
}

/** What persons may find in MIRRORED sources, for searches and lists. */
export class AccessGates {
  readonly #db: Database;
  readonly #maxAgeMs: number;
  readonly #nowMs: () => number;
  readonly #gates = new BoundedMap<string, RememberedGate>(gatesMax);
  readonly #mirrored: InvalidatedCache<ReadonlyMap<string, RecheckMode>>;
  /** What was found last; undefined once it may have changed. */
  #lastMirrored: ReadonlyMap<string, RecheckMode> | undefined;
  /** Grows with every signal: what was read before one is not remembered after it. */
  #changeCount = 0;

  /** @param maxAgeMs  how long permissions count after they were read. */
  constructor(db: Database, signals: Signals, maxAgeMs: number, nowMs: () => number = () => performance.now()) {
    this.#db = db;
    this.#maxAgeMs = maxAgeMs;
    this.#nowMs = nowMs;
    this.#mirrored = new InvalidatedCache(signals, 1);
    const forget = () => {
      this.#changeCount += 1;
      this.#gates.clear();
    };
    const forgetAll = () => {
      this.#lastMirrored = undefined;
      this.#mirrored.forget(() => true);
      forget();
    };
    signals.onReset(forgetAll);
    // Of all that changes permissions, the database itself announces `access` alone.
    signals.onGap(forget);
    signals.subscribe('permissions-changed', forgetAll);
    for (const topic of ['user-changed', 'key-changed', 'membership-changed'] as const) {
      signals.subscribe(topic, forget);
    }
  }

  /**
   * What a person may find in sources; undefined where none of them is MIRRORED, which costs no statement.
   *
   * Cost: where some are, three statements, and none while it is remembered.
   */
  async open(reader: Reader, dataSourceIds: readonly string[]): Promise<AccessGate | undefined> {
    const mirrored = await this.findMirrored();
    const mirroredIds = [...new Set(dataSourceIds)].filter((id) => mirrored.has(id)).sort();
    if (mirroredIds.length === 0) return undefined;
    const isAllMirrored = mirroredIds.length === new Set(dataSourceIds).size;
    const key = [reader.orgId, reader.userId, reader.keyId, isAllMirrored, ...mirroredIds].join(' ');
    const remembered = this.#gates.get(key);
    if (remembered !== undefined && this.#nowMs() - remembered.madeAtMs < ageMaxMs) return remembered.gate;
    const [countBefore, madeAtMs] = [this.#changeCount, this.#nowMs()];
    const rules = await findOpenRules(this.#db, reader, mirroredIds, this.#maxAgeMs);
    const ruleIds = rules.map(({ id }) => id).sort((a, b) => a - b);
    const itemIds = isAllMirrored ? await this.#findFewItems(mirroredIds, ruleIds) : undefined;
    const recheckedIds = mirroredIds.filter((id) => mirrored.get(id) === 'ON_ANSWER');
    const gate = { mirroredIds, ruleIds, recheckedIds, ...(itemIds === undefined ? {} : { itemIds }) };
    if (this.#changeCount === countBefore) this.#gates.set(key, { gate, madeAtMs });
    return gate;
  }

  /** Whether any of some sources is MIRRORED. Costs no statement while this process remembers which are. */
  async areAnyMirrored(dataSourceIds: readonly string[]): Promise<boolean> {
    const mirrored = await this.findMirrored();
    return dataSourceIds.some((id) => mirrored.has(id));
  }

  /** Whether a source is known to be LENT, by what this process remembers: false also while it remembers nothing. Costs no statement. */
  isLent(dataSourceId: string): boolean {
    const mirrored = this.#lastMirrored;
    return mirrored !== undefined && !mirrored.has(dataSourceId);
  }

  /** The MIRRORED sources of all organizations, by id. Costs no statement while this process remembers them. */
  async findMirrored(): Promise<ReadonlyMap<string, RecheckMode>> {
    const read = this.#mirrored.find('', this.#nowMs(), async () => {
      const rows = await this.#db.prisma.dataSource.findMany({
        where: { access: { not: 'LENT' } },
        select: { id: true, recheck: true },
      });
      return new Map(rows.map(({ id, recheck }) => [id, recheck as RecheckMode]));
    });
    const countBefore = this.#changeCount;
    const mirrored = (read instanceof Promise ? await read : read) ?? new Map();
    if (this.#changeCount === countBefore) this.#lastMirrored = mirrored;
    return mirrored;
  }

  /** The items with one of the rules; undefined when they are many. */
  async #findFewItems(dataSourceIds: readonly string[], ruleIds: readonly number[]): Promise<readonly string[] | undefined> {
    if (ruleIds.length === 0) return [];
    const rows = await this.#db.query<{ readonly id: string }>(
      `select id from knowledge_items where "dataSourceId" = any($1::text[]) and "accessRuleId" = any($2::int[]) limit ${itemsMax + 1}`,
      [dataSourceIds, ruleIds],
    );
    return rows.length > itemsMax ? undefined : rows.map(({ id }) => id);
  }
}
