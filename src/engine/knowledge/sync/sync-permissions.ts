import type { Logger } from 'pino';
import type { GroupMembers, ItemAccess } from '../../../entities/knowledge/permissions.ts';
import { storableJson, storableText } from '../../../lib/text/text.ts';
import type { Settings } from '../../../settings.ts';
import type { ReadingItem, ReadingLease } from '../../../storage/knowledge/permissions/readings.ts';
import type { PermissionPlace } from '../../../storage/knowledge/permissions/rules.ts';
import type { Storage } from '../../../storage/storage.ts';
import { holdLease, isLost } from '../../leases.ts';
import { SourceError } from '../connectors/error.ts';
import type { PermissionKind, PermissionPage, PermissionTask } from '../connectors/permissions.ts';
import { type PermissionReaders, sourceKinds } from '../connectors/registry.ts';
import { storedId } from './sync-source.ts';

export interface PermissionSyncContext {
  readonly settings: Settings;
  readonly storage: Storage;
  readonly logger: Logger;
  readonly permissionReaders: PermissionReaders;
  /** The holder of the lease: the job. */
  readonly owner: string;
}

const hourMs = 3_600_000;
/** Everything is read again after this time, whatever feeds of changes tell. */
const fullEveryMs = 24 * hourMs;
const messageMax = 1_000;
/** Parts are stored together up to this size: few statements for many items. */
const itemsAtOnce = 1_000;

/**
 * Reads who may open the items of a source, and stores what changed. No document is read. In every case the reading ends with its time, or with a
 * reason and goes on later where it stopped.
 *
 * @returns `held` for a source that another process reads, or that is not MIRRORED any more: nothing was read.
 * @throws the signal's reason when it fires.
 */
export async function syncPermissions(
  context: PermissionSyncContext,
  dataSourceId: string,
  signal: AbortSignal,
): Promise<'held' | 'ended'> {
  const { settings, storage, owner, logger } = context;
  const { permissionReadings: readings } = storage.knowledge;
  const leaseMs = settings.INDEX_LEASE_MS;
  const lease = await readings.begin(dataSourceId, { owner, leaseMs });
  if (lease === undefined) return 'held';
  const hold = holdLease({ renew: () => readings.renew(lease, leaseMs) }, 'task', lease, leaseMs);
  try {
    await readPermissions(context, lease, AbortSignal.any([signal, hold.lost]));
  } catch (error) {
    if (isLost(error, hold)) return 'ended';
    if (signal.aborted) {
      await readings.release(lease);
      throw signal.reason;
    }
    const failure = error instanceof SourceError ? error : undefined;
    if (failure === undefined) logger.error({ err: error, dataSourceId }, 'reading the permissions of a source failed');
    const code = failure?.code ?? 'INTERNAL';
    const message = failure?.message ?? 'Something went wrong on our side while permissions were read. It is tried again.';
    await readings.fail(lease, { code, message: storableText(message).slice(0, messageMax) }).catch((failing: unknown) => {
      if (!isLost(failing, hold)) throw failing;
    });
  } finally {
    hold.stop();
  }
  return 'ended';
}

async function readPermissions(context: PermissionSyncContext, begun: ReadingLease, signal: AbortSignal): Promise<void> {
  const { storage, permissionReaders } = context;
  const { permissionReadings: readings } = storage.knowledge;
  const { source, orgId, tenantId } = begun;
  const kind = sourceKinds[source.type].permissions;
  const reader = permissionReaders.find(source.type);
  if (kind === undefined || reader === undefined)
    throw new SourceError('CONFIGURATION', 'Services of this kind do not say who may open a document: set access to LENT.');
  const directory = storableText(kind.directory(source.data));
  const lease = directory === begun.directory ? begun : { ...begun, directory, state: undefined, place: undefined, fullAt: null };
  if (lease !== begun) await readings.enter(begun, directory);
  const isFull = lease.state === undefined || lease.fullAt === null || Date.now() - lease.fullAt.getTime() >= fullEveryMs;
  const task: PermissionTask = {
    source: { ...source, orgId, tenantId },
    isFull,
    state: isFull ? undefined : lease.state,
    place: lease.place,
    signal,
    known: async (ids) => findKnown(await readings.known(source.id, ids.map(storedId)), ids),
    items: (after) => readings.items(source.id, after),
    newItems: () => readings.newItems(source.id),
  };
  const writer = new PartWriter(context, lease, toPlace(lease, kind));
  const reading = reader.read(task);
  try {
    for (;;) {
      signal.throwIfAborted();
      const step = await reading.next();
      signal.throwIfAborted();
      if (step.done !== true) {
        await writer.add(step.value);
        continue;
      }
      const { isFull: isWhole, state, missingRights = [] } = step.value;
      await writer.flush();
      // What an earlier process told is not known here: the next reading of everything closes what is not told then.
      if (isWhole && lease.place === undefined) await writer.closeUntold(readings.items(source.id));
      await readings.finish(lease, {
        isFull: isWhole && lease.place === undefined,
        state: state === undefined ? undefined : storableJson(state),
        missingRights: missingRights.map(storableText),
      });
      return;
    }
  } finally {
    await reading.return({ isFull: false }).catch(() => undefined);
  }
}

function toPlace({ source, orgId, directory }: ReadingLease, { service }: PermissionKind): PermissionPlace {
  return { dataSourceId: source.id, orgId, directory, service };
}

function findKnown(items: readonly ReadingItem[], ids: readonly string[]): ReadonlyMap<string, ReadingItem> {
  const givenIds = new Map(ids.map((id) => [storedId(id), id]));
  return new Map(items.map((item) => [givenIds.get(item.uniqueId) ?? item.uniqueId, item]));
}

const unreported = {
  unknown: {
    code: 'UNREPORTED',
    message: 'The service did not say who may open it. It may be hidden from the connected account.',
  },
} as const satisfies ItemAccess['permissions'];

/** Stores what a reader tells, many items with few statements. */
class PartWriter {
  readonly #context: PermissionSyncContext;
  readonly #lease: ReadingLease;
  readonly #place: PermissionPlace;
  readonly #toldIds = new Set<string>();
  #items: ItemAccess[] = [];
  #groups: GroupMembers[] = [];
  /** Where the reading goes on behind what waits here. */
  #next: unknown;

  constructor(context: PermissionSyncContext, lease: ReadingLease, place: PermissionPlace) {
    this.#context = context;
    this.#lease = lease;
    this.#place = place;
    this.#next = lease.place;
  }

  async add({ items, groups = [], place }: PermissionPage): Promise<void> {
    this.#items.push(...items);
    this.#groups.push(...groups);
    this.#next = place;
    if (this.#items.length >= itemsAtOnce || this.#groups.length > 0) await this.flush();
  }

  async flush(): Promise<void> {
    const items = this.#items.map(({ uniqueId, permissions }) => ({ uniqueId: storedId(uniqueId), permissions }));
    for (const { uniqueId } of items) this.#toldIds.add(uniqueId);
    const part = { items, groups: this.#groups, place: this.#next ?? null };
    [this.#items, this.#groups] = [[], []];
    await this.#context.storage.knowledge.permissionReadings.apply(this.#lease, this.#place, storableJson(part) as typeof part);
  }

  /** Items that a reading of everything did not name are open to nobody. */
  async closeUntold(pages: AsyncIterable<readonly ReadingItem[]>): Promise<void> {
    for await (const page of pages) {
      const untold = page.filter(({ uniqueId }) => !this.#toldIds.has(uniqueId));
      if (untold.length > 0)
        await this.add({ items: untold.map(({ uniqueId }) => ({ uniqueId, permissions: unreported })), place: null });
    }
    await this.flush();
  }
}
