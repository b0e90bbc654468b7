import { DomainError } from '../../../entities/ground/errors.ts';
import type { Change, ChangeKind, LivePlace, LiveRow } from '../../../entities/operations/live.ts';
import { BoundedMap } from '../../../lib/bounded-map.ts';
import type { LiveRule } from '../../../storage/operations/live/live.ts';
import type { Deps } from '../../deps.ts';
import type { LiveListener, Places } from './feed.ts';
import { Known } from './known.ts';

/** A list that a caller follows. */
export interface LiveList {
  readonly rule: LiveRule;
  /** Whether a change of a thing at that place may concern the caller. Costs no statement. */
  concerns(place: LivePlace): boolean;
  /** Whether a deleted thing at that place was the caller's to see. Of other things, only the end of known ones is told. */
  owns(place: LivePlace): boolean;
  /** Reads what `concerns` goes by; called before the list is looked at. Absent: nothing is needed. */
  prepare?(): Promise<void>;
  /** Rights to agents may have changed; undefined: to any. `concerns` then takes more for its own until it is prepared again. */
  onAgents?(agents: Places | undefined): void;
  /** What is in the list is read when the stream begins, so that each end of access is told. Long lists are not. */
  readonly isRemembered: boolean;
}

/** Things of a remembered list that are read, and most things that any stream remembers. */
const rememberedMax = 2_000;
/** Most things whose changes wait for a slow reader. Beyond, the stream looks for what changed. */
const pendingMax = 2_000;
/** Most changes that are told anew. */
const replayedMax = 1_000;
/** Clocks of instances differ, and a transaction is seen only at its end: so much before the last look is told once more. */
const overlapMs = 5_000;

/**
 * Follows a list: yields what is created, updated and deleted in it, for this caller, until the signal fires. Changes of a thing within a quarter of a
 * second are one. Rights are those at the time of the change: nothing is told of a thing that the caller may not see, but that a known one is gone.
 *
 * @param after  the `until` of a change that was told: what changed since then is told first. Some may be told twice.
 * @throws DomainError INVALID_VALUE when more than 1,000 things changed since then: load the list anew.
 *
 * Cost: one statement at the start for a remembered list, then one for every quarter of a second in which something changed that may concern the
 * caller; none otherwise.
 */
export async function watchList(
  deps: Deps,
  list: LiveList,
  after: Date | undefined,
  signal: AbortSignal,
): Promise<AsyncGenerator<Change, void, void>> {
  const watch = new Watch(deps, list, signal);
  try {
    await watch.begin(after);
  } catch (error) {
    watch.close();
    throw error;
  }
  return watch.changes();
}

/** What to look at. */
interface Look {
  /** Things that changed, and whether only the rights to them did. */
  readonly things: ReadonlyMap<string, Noted>;
  /** Everything that changed since the last look, or whether any rights did. */
  readonly whole: 'changes' | 'rights' | undefined;
}
interface Noted {
  readonly place: LivePlace | undefined;
  readonly isRightsOnly: boolean;
}

class Watch implements LiveListener {
  readonly #deps: Deps;
  readonly #list: LiveList;
  readonly #signal: AbortSignal;
  readonly #stop: () => void;
  #known = new Known(rememberedMax);
  /** Things of the caller whose end was told although they were not known: it is told once. */
  readonly #gone = new BoundedMap<string, true>(pendingMax);
  #noted = new Map<string, Noted>();
  #whole: Look['whole'];
  #wake: (() => void) | undefined;
  /** What changed until then was told. */
  #toldUntil: Date;
  #replay: readonly Change[] = [];

  constructor(deps: Deps, list: LiveList, signal: AbortSignal) {
    this.#deps = deps;
    this.#list = list;
    this.#signal = signal;
    this.#toldUntil = deps.now();
    // Before the first read, so that no change is missed in between.
    this.#stop = deps.live.listen(list.rule.kind, this);
    signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  readonly #onAbort = () => {
    this.#stop();
    this.#wake?.();
  };

  close(): void {
    this.#signal.removeEventListener('abort', this.#onAbort);
    this.#stop();
  }

  async begin(after: Date | undefined): Promise<void> {
    const { live } = this.#deps.storage.operations;
    const { rule, isRemembered } = this.#list;
    const startedAt = this.#toldUntil;
    await this.#list.prepare?.();
    const rows = isRemembered ? await live.newest(rule, rememberedMax) : [];
    if (after !== undefined) this.#replay = await this.#changedSince(after, rows);
    this.#known = isRemembered ? toKnownRows(rows) : new Known(rememberedMax, startedAt);
  }

  async *changes(): AsyncGenerator<Change, void, void> {
    try {
      yield* this.#replay;
      while (!this.#signal.aborted) {
        const look = this.#take();
        if (look === undefined) await this.#change();
        else yield* await this.#look(look);
      }
    } finally {
      this.close();
    }
  }

  onChanges(places: Places): void {
    for (const [id, place] of places) {
      if (this.#known.hasId(id) || (place !== undefined && this.#list.concerns(place)))
        this.#note(id, { place, isRightsOnly: false });
    }
  }

  onRights(places: Places | undefined): void {
    if (places === undefined) this.#noteWhole('rights');
    for (const [id, place] of places ?? []) {
      const isConcerned = this.#known.hasId(id) || (place !== undefined && this.#list.concerns(place));
      if (isConcerned && !this.#noted.has(id)) this.#note(id, { place, isRightsOnly: true });
    }
  }

  onAgents(agents: Places): void {
    this.#list.onAgents?.(agents);
  }

  onGap(): void {
    this.#list.onAgents?.(undefined);
    this.#noteWhole('changes');
  }

  #note(id: string, rowNote: Noted): void {
    this.#noted.set(id, rowNote);
    if (this.#noted.size > pendingMax) this.#noteWhole('changes');
    this.#wake?.();
  }

  #noteWhole(whole: 'changes' | 'rights'): void {
    if (this.#whole !== 'changes') this.#whole = whole;
    if (whole === 'changes') this.#noted.clear();
    this.#wake?.();
  }

  #take(): Look | undefined {
    if (this.#noted.size === 0 && this.#whole === undefined) return undefined;
    const look = { things: this.#noted, whole: this.#whole };
    this.#noted = new Map();
    this.#whole = undefined;
    return look;
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#wake = undefined;
        resolve();
      };
      if (this.#signal.aborted) this.#wake();
    });
  }

  async #look({ things, whole }: Look): Promise<readonly Change[]> {
    const now = this.#deps.now();
    await this.#list.prepare?.();
    const changeKinds = new Map<string, ChangeKind>();
    if (things.size > 0) for (const [id, kind] of await this.#lookAt(things)) changeKinds.set(id, kind);
    // What one look found, the other knows already.
    if (whole !== undefined)
      for (const [id, kind] of await this.#lookAtAll(whole)) if (!changeKinds.has(id)) changeKinds.set(id, kind);
    this.#toldUntil = now;
    return listChanges(changeKinds, now);
  }

  async #lookAt(things: ReadonlyMap<string, Noted>): Promise<ReadonlyMap<string, ChangeKind>> {
    const rows = await this.#deps.storage.operations.live.find(this.#list.rule, [...things.keys()]);
    const rowsById = new Map(rows.map((row) => [row.id, row]));
    const changeKinds = new Map<string, ChangeKind>();
    for (const [id, { place, isRightsOnly }] of things) {
      const row = rowsById.get(id);
      if (row === undefined) {
        const wasKnown = this.#known.remove(id) || (place !== undefined && this.#list.owns(place) && !this.#gone.has(id));
        if (wasKnown) changeKinds.set(id, 'deleted');
        this.#gone.set(id, true);
      } else {
        const isKnown = this.#known.has(row);
        this.#known.add(row);
        if (!isKnown) changeKinds.set(id, 'created');
        else if (!isRightsOnly) changeKinds.set(id, 'updated');
      }
    }
    return changeKinds;
  }

  /** Compares the whole list with what is known; a long list is read from the last look on. */
  async #lookAtAll(whole: 'changes' | 'rights'): Promise<ReadonlyMap<string, ChangeKind>> {
    const { live } = this.#deps.storage.operations;
    const { rule, isRemembered } = this.#list;
    const since = new Date(this.#toldUntil.getTime() - overlapMs);
    const changeKinds = new Map<string, ChangeKind>();
    const rows = isRemembered ? await live.newest(rule, rememberedMax) : await live.changedSince(rule, since, replayedMax);
    const presentIds = new Set(rows.map(({ id }) => id));
    const missing = this.#known.ids.filter((id) => !presentIds.has(id));
    // Beyond the end of what was read, a thing may be in the list nevertheless.
    const isCut = !isRemembered || rows.length >= rememberedMax;
    const others = isCut && missing.length > 0 ? await live.find(rule, missing) : [];
    for (const { id } of others) presentIds.add(id);
    for (const id of missing.filter((missingId) => !presentIds.has(missingId))) {
      this.#known.remove(id);
      changeKinds.set(id, 'deleted');
    }
    for (const row of rows) {
      if (!this.#known.has(row)) changeKinds.set(row.id, 'created');
      else if (whole === 'changes' && row.updatedAt >= since) changeKinds.set(row.id, 'updated');
      this.#known.add(row);
    }
    return changeKinds;
  }

  async #changedSince(since: Date, rememberedRows: readonly LiveRow[]): Promise<readonly Change[]> {
    const { live } = this.#deps.storage.operations;
    const { rule, isRemembered } = this.#list;
    const most = replayedMax + 1;
    const rows = isRemembered
      ? rememberedRows.filter(({ updatedAt }) => updatedAt >= since).sort((a, b) => a.updatedAt.getTime() - b.updatedAt.getTime())
      : await live.changedSince(rule, since, most);
    const deletedRows = await live.deletedSince(rule, since, most);
    if (rows.length + deletedRows.length > replayedMax) {
      const message = `More than ${replayedMax} things have changed since: load the list anew, and subscribe without \`after\``;
      throw new DomainError('INVALID_VALUE', message, { param: 'after' });
    }
    const changeKinds = new Map<string, ChangeKind>(deletedRows.map(({ id }) => [id, 'deleted']));
    for (const { id, createdAt } of rows) changeKinds.set(id, createdAt >= since ? 'created' : 'updated');
    return listChanges(changeKinds, this.#toldUntil);
  }
}

function toKnownRows(rows: readonly LiveRow[]): Known {
  const isCut = rows.length >= rememberedMax;
  const oldestMs = Math.min(...rows.map(({ createdAt }) => createdAt.getTime()));
  const knownRows = new Known(rememberedMax, isCut ? new Date(oldestMs) : undefined);
  // The newest last: they stay longest.
  for (const row of rows.toSorted((a, b) => a.createdAt.getTime() - b.createdAt.getTime())) knownRows.add(row);
  return knownRows;
}

/** @param now  when it was looked for them. */
export function listChanges(changeKinds: ReadonlyMap<string, ChangeKind>, now: Date): readonly Change[] {
  const ids = [...changeKinds].flatMap(([id, kind]) => (kind === 'deleted' ? [] : [id]));
  const batch = { ids, until: new Date(now.getTime() - overlapMs) };
  return [...changeKinds].map(([id, kind]) => ({ kind, id, batch }));
}
