import type { SyncedSource } from '../../../src/engine/knowledge/connectors/connector.ts';
import type {
  PermissionEnd,
  PermissionItem,
  PermissionKind,
  PermissionPage,
  PermissionReader,
} from '../../../src/engine/knowledge/connectors/permissions.ts';
import type { ConnectedType } from '../../../src/entities/knowledge/data-source.ts';
import type { AccessEntry, GroupMembers, ItemPermissions } from '../../../src/entities/knowledge/permissions.ts';
import { someOwner } from '../sharing/pools.ts';
import type { ConnectorBench } from './connector-bench.ts';

/** Who asks, by what is proven of that person. */
export interface Somebody {
  readonly accountId?: string;
  readonly email?: string;
}

export interface ReadingResult {
  readonly end: PermissionEnd | undefined;
  readonly pages: readonly PermissionPage[];
  /** The ids that were told. */
  readonly told: readonly string[];
}

/** A source with what was told of its permissions: readings one after the other, as storage would keep them. */
export class PermissionBench {
  readonly permissions = new Map<string, ItemPermissions>();
  readonly groups = new Map<string, GroupMembers>();
  missingRights: readonly string[] = [];
  state: unknown;
  /** Where a reading was cut off. */
  place: unknown;
  readonly #reader: PermissionReader;
  readonly #source: SyncedSource;
  readonly #items: () => readonly PermissionItem[];
  #reported = new Set<string>();
  #reportedGroups = new Set<string>();

  /** @param items  what the source has now. */
  constructor(
    bench: ConnectorBench,
    kind: PermissionKind,
    type: ConnectedType,
    data: Readonly<Record<string, unknown>>,
    items: () => readonly (Partial<PermissionItem> & { readonly uniqueId: string })[],
  ) {
    this.#reader = kind.open(bench.services);
    this.#source = { id: 'ds_1', ownerUserId: 'user_1', type, data: { oauthTokenId: 'oat_1', ...data }, ...someOwner };
    this.#items = () =>
      items()
        .map((item) => ({ parentUniqueId: null, metadata: {}, notes: {}, ...item }))
        .sort((a, b) => (a.uniqueId < b.uniqueId ? -1 : 1));
  }

  /** @param pagesMax  cuts the reading off after so many pages, as a kill does. */
  async read({ isFull = false, pagesMax = Number.POSITIVE_INFINITY } = {}): Promise<ReadingResult> {
    const pages: PermissionPage[] = [];
    const all = this.#items();
    const some = async function* (items: readonly PermissionItem[]) {
      for (let at = 0; at < items.length; at += 1_000) yield items.slice(at, at + 1_000);
    };
    const reading = this.#reader.read({
      ...{ source: this.#source, isFull, state: isFull ? undefined : copied(this.state), place: copied(this.place) },
      signal: new AbortController().signal,
      known: async (ids) => new Map(all.filter(({ uniqueId }) => ids.includes(uniqueId)).map((item) => [item.uniqueId, item])),
      items: (after = '') => some(all.filter(({ uniqueId }) => uniqueId > after)),
      newItems: () => some(all.filter(({ uniqueId }) => !this.permissions.has(uniqueId))),
    });
    for (let step = await reading.next(); ; step = await reading.next()) {
      if (step.done === true) return this.#finish(step.value, pages);
      pages.push(step.value);
      this.#apply(step.value, new Set(all.map(({ uniqueId }) => uniqueId)));
      if (pages.length < pagesMax) continue;
      await reading.return({ isFull: false });
      return { end: undefined, pages, told: toldBy(pages) };
    }
  }

  /** Which items somebody may open, by what was told. */
  opened(who: Somebody, isLinkFindable = false): readonly string[] {
    return [...this.permissions]
      .filter(([, permissions]) => this.opens(permissions, who, isLinkFindable))
      .map(([id]) => id)
      .sort();
  }

  opens(permissions: ItemPermissions, who: Somebody, isLinkFindable = false): boolean {
    if (!('lists' in permissions)) return false;
    return permissions.lists.every((list) =>
      list.some(
        (entry) => (isLinkFindable || !('isByLink' in entry && entry.isByLink === true)) && this.#names(entry, who, new Set()),
      ),
    );
  }

  recheck(ids: readonly string[], who: Somebody, signal = AbortSignal.timeout(1_000)): Promise<ReadonlySet<string>> {
    const items = this.#items().filter(({ uniqueId }) => ids.includes(uniqueId));
    const person = {
      accountIds: who.accountId === undefined ? [] : [who.accountId],
      emails: who.email === undefined ? [] : [who.email],
    };
    const opens = async (permissions: ItemPermissions) => this.opens(permissions, who);
    const asked = this.#reader.recheck?.({ source: this.#source, items, person, signal, opens });
    if (asked === undefined) throw new Error('the kind cannot ask again');
    return asked;
  }

  unknownCode(id: string): string | undefined {
    const permissions = this.permissions.get(id);
    return permissions !== undefined && 'unknown' in permissions ? permissions.unknown.code : undefined;
  }

  #names(entry: AccessEntry, who: Somebody, seen: Set<string>): boolean {
    if (entry.kind === 'anyone' || entry.kind === 'anyone_in_organization') return true;
    if (entry.kind === 'domain') return who.email?.endsWith(`@${entry.domain}`) === true;
    if (entry.kind === 'user') {
      return (
        (who.accountId !== undefined && entry.accountId === who.accountId) ||
        (who.email !== undefined && entry.email === who.email)
      );
    }
    if (seen.has(entry.id)) return false;
    seen.add(entry.id);
    const members = this.groups.get(entry.id)?.members;
    return Array.isArray(members) && members.some((member) => this.#names(member, who, seen));
  }

  #apply({ items, groups = [], place }: PermissionPage, existing: ReadonlySet<string>): void {
    this.place = place ?? undefined;
    for (const { uniqueId, permissions } of items) {
      if (!existing.has(uniqueId)) continue;
      this.permissions.set(uniqueId, permissions);
      this.#reported.add(uniqueId);
    }
    for (const group of groups) {
      this.groups.set(group.id, group);
      this.#reportedGroups.add(group.id);
    }
  }

  #finish(end: PermissionEnd, pages: readonly PermissionPage[]): ReadingResult {
    if (end.isFull) {
      const unreported = { unknown: { code: 'UNREPORTED', message: '' } } as const;
      for (const id of this.permissions.keys()) if (!this.#reported.has(id)) this.permissions.set(id, unreported);
      for (const id of this.groups.keys()) if (!this.#reportedGroups.has(id)) this.groups.delete(id);
    }
    if (end.state !== undefined) this.state = end.state;
    this.missingRights = end.missingRights ?? [];
    this.place = undefined;
    this.#reported = new Set();
    this.#reportedGroups = new Set();
    return { end, pages, told: toldBy(pages) };
  }
}

function toldBy(pages: readonly PermissionPage[]): readonly string[] {
  return [...new Set(pages.flatMap(({ items }) => items.map(({ uniqueId }) => uniqueId)))].sort();
}

/** What a database gives back. */
function copied(value: unknown): unknown {
  return value === undefined || value === null ? undefined : JSON.parse(JSON.stringify(value));
}
