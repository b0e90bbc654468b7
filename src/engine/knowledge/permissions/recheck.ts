import type { IdentityService, ItemPermissions } from '../../../entities/knowledge/permissions.ts';
import { BoundedMap } from '../../../lib/bounded-map.ts';
import { membersOf } from '../../../lib/json/json.ts';
import type { AccessGate } from '../../../storage/knowledge/permissions/gate.ts';
import type { Reader } from '../../../storage/knowledge/permissions/open-rules.ts';
import { type PrincipalKey, toPrincipalKeys } from '../../../storage/knowledge/permissions/principals.ts';
import type { Storage } from '../../../storage/storage.ts';
import type { SyncedSource } from '../connectors/connector.ts';
import type { PermissionReader } from '../connectors/permissions.ts';
import { type PermissionReaders, sourceKinds } from '../connectors/registry.ts';
import type { PassageMatch } from '../search/passages.ts';

const timeoutMs = 1_000;
const ageMaxMs = 60_000;
const answersMax = 20_000;
const itemsMax = 50;

export interface RecheckDeps {
  readonly storage: Storage;
  readonly readers: PermissionReaders;
}

/** Asks services, before passages are given, whether the person who asks may open their documents now. */
export class Recheck {
  readonly #deps: RecheckDeps;
  /** By person, key and item. */
  readonly #answers = new BoundedMap<string, { readonly isOpen: boolean; readonly atMs: number }>(answersMax);

  constructor(deps: RecheckDeps) {
    this.#deps = deps;
  }

  /**
   * The passages that may be given: those of sources that are not asked, and those that the service says to be open. No answer within a second means no.
   *
   * Cost: none without such a source; else one call of the service for each such source, unless it answered within the last minute.
   */
  async keepOpen(
    gate: AccessGate | undefined,
    reader: Reader,
    passages: readonly PassageMatch[],
    signal: AbortSignal,
  ): Promise<readonly PassageMatch[]> {
    const asked = new Set(gate?.recheckedIds);
    const bySource = Map.groupBy(
      passages.filter(({ dataSourceId }) => asked.has(dataSourceId)),
      ({ dataSourceId }) => dataSourceId,
    );
    if (bySource.size === 0) return passages;
    const openIds = new Set<string>();
    await Promise.all(
      [...bySource].map(async ([dataSourceId, some]) => {
        const itemIds = [...new Set(some.map(({ knowledgeItemId }) => knowledgeItemId))].slice(0, itemsMax);
        for (const id of await this.#ask(dataSourceId, reader, itemIds, signal).catch(() => [])) openIds.add(id);
      }),
    );
    signal.throwIfAborted();
    return passages.filter(({ dataSourceId, knowledgeItemId }) => !asked.has(dataSourceId) || openIds.has(knowledgeItemId));
  }

  async #ask(dataSourceId: string, reader: Reader, itemIds: readonly string[], signal: AbortSignal): Promise<readonly string[]> {
    const toKey = (itemId: string) => `${reader.orgId} ${reader.userId} ${reader.keyId} ${itemId}`;
    const nowMs = performance.now();
    const known = itemIds.map((id) => ({ id, answer: this.#answers.get(toKey(id)) }));
    const fresh = known.filter(({ answer }) => answer !== undefined && nowMs - answer.atMs < ageMaxMs);
    const unknownIds = known.filter((one) => !fresh.includes(one)).map(({ id }) => id);
    const open = fresh.filter(({ answer }) => answer?.isOpen === true).map(({ id }) => id);
    if (unknownIds.length === 0) return open;
    const answered = await this.#askService(dataSourceId, reader, unknownIds, signal);
    for (const id of unknownIds) this.#answers.set(toKey(id), { isOpen: answered.has(id), atMs: nowMs });
    return [...open, ...answered];
  }

  async #askService(
    dataSourceId: string,
    reader: Reader,
    itemIds: readonly string[],
    signal: AbortSignal,
  ): Promise<ReadonlySet<string>> {
    const { permissions, connectedSources } = this.#deps.storage.knowledge;
    const source = await connectedSources.findSynced(dataSourceId);
    if (source === undefined) return new Set();
    const { recheck, service } = this.#find(source);
    if (recheck === undefined || service === undefined) return new Set();
    const [items, principals] = await Promise.all([permissions.items(itemIds), permissions.principalsOf(reader, dataSourceId)]);
    const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    const keysOf = (kind: PrincipalKey['kind']) => principals.flatMap((one) => (one.kind === kind ? [one.key] : []));
    const prefix = `${service} `;
    const task = {
      source,
      items: items.map(({ metadata, notes, ...item }) => ({ ...item, metadata: membersOf(metadata), notes: membersOf(notes) })),
      person: {
        accountIds: keysOf('account').flatMap((key) => (key.startsWith(prefix) ? [key.slice(prefix.length)] : [])),
        emails: keysOf('email'),
      },
      signal: limit,
      opens: async (rule: ItemPermissions) => opens(rule, principals, service),
    };
    // A reader that does not watch the signal is not waited for either.
    const late = new Promise<never>((_resolve, reject) => {
      limit.addEventListener('abort', () => reject(limit.reason), { once: true });
    });
    const openUniqueIds = await Promise.race([recheck(task), late]);
    return new Set(items.flatMap(({ id, uniqueId }) => (openUniqueIds.has(uniqueId) ? [id] : [])));
  }

  #find({ type }: SyncedSource): { readonly recheck?: PermissionReader['recheck']; readonly service?: IdentityService } {
    const reader = this.#deps.readers.find(type);
    const service = sourceKinds[type].permissions?.service;
    return {
      ...(reader?.recheck === undefined ? {} : { recheck: reader.recheck.bind(reader) }),
      ...(service === undefined ? {} : { service }),
    };
  }
}

/** Whether permissions that were just read name a person in every list. What is open by link is not. */
function opens(rule: ItemPermissions, principals: readonly PrincipalKey[], service: IdentityService): boolean {
  if ('unknown' in rule) return false;
  const keys = new Set(principals.flatMap(({ kind, key }) => (kind.startsWith('link-') ? [] : [`${kind} ${key}`])));
  return rule.lists.every((list) =>
    list.some((entry) => toPrincipalKeys(entry, service).some(({ kind, key }) => keys.has(`${kind} ${key}`))),
  );
}
