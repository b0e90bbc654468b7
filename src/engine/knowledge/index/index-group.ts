import { inParts } from '../../../lib/in-parts.ts';
import type { Database } from '../../../storage/ground/database.ts';
import { LeaseLostError } from '../../../storage/ground/leases.ts';
import type { ReadItem } from '../../../storage/knowledge/indexing/item-groups.ts';
import type { IndexedContent, IndexLease, ItemLeft } from '../../../storage/knowledge/indexing/lease.ts';
import { chunksOfTransaction, type IndexContext, type IndexOutcome, indexItem, indexLeased } from './index-item.ts';

/** Items whose leases are taken by one statement. The next ones are read while these are stored. */
const takenAtOnce = 16;
/** Each is read by a process of its own. */
const readAtOnce = 2;

/**
 * Indexes small new items, of which many are stored in one transaction. Each ends as it would by `indexItem`; so does each that is not new or not here,
 * alone: also one that was begun before, because it may have ended the process.
 *
 * @returns the outcomes of those that are not gone, with their ids.
 * @throws the signal's reason when it fires; what was not completed is back in the queue then.
 */
export async function indexItems(
  context: IndexContext,
  itemIds: readonly string[],
  signal: AbortSignal,
): Promise<readonly (IndexOutcome & { readonly itemId: string })[]> {
  const { storage, settings, owner } = context;
  const outcomes: (IndexOutcome & { readonly itemId: string })[] = [];
  const alone: string[] = [];
  const note = async (lease: IndexLease, indexing: Promise<'done' | 'waits' | 'again'>) => {
    const kind = await indexing;
    if (kind === 'again') alone.push(lease.id);
    else outcomes.push({ kind, itemId: lease.id, dataSourceId: lease.dataSourceId });
  };
  let storing: Promise<unknown> = Promise.resolve();
  try {
    for (const some of inParts(itemIds, takenAtOnce)) {
      signal.throwIfAborted();
      const leases = await storage.knowledge.indexing.groups.take(some, owner, settings.INDEX_LEASE_MS);
      const takenIds = new Set(leases.map(({ id }) => id));
      alone.push(...some.filter((id) => !takenIds.has(id)));
      const group = new Group(context, leases.length);
      const indexing = leases.map((lease) => note(lease, group.index(lease, signal)));
      const earlier = storing;
      storing = Promise.allSettled(indexing).then(() => Promise.all(indexing));
      // Whatever it throws is thrown where it is awaited.
      storing.catch(() => undefined);
      await Promise.all([group.gathered, earlier]);
    }
  } finally {
    await storing;
  }
  for (const itemId of alone) {
    const outcome = await indexItem(context, itemId, signal);
    if (outcome !== undefined) outcomes.push({ ...outcome, itemId });
  }
  return outcomes;
}

/** Items that are read beside each other, and stored together once each of them is read or has failed. */
class Group {
  /** Resolves once all are read, before they are stored. */
  readonly gathered: Promise<void>;
  readonly #context: IndexContext;
  readonly #gather: () => void;
  readonly #read: StoredLater[] = [];
  readonly #places: Promise<unknown>[];
  #missing: number;
  #next = 0;

  constructor(context: IndexContext, size: number) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#context = context;
    this.gathered = promise;
    this.#gather = resolve;
    this.#missing = size;
    this.#places = Array.from({ length: readAtOnce }, () => Promise.resolve());
    if (size === 0) resolve();
  }

  async index(lease: IndexLease, signal: AbortSignal): Promise<'done' | 'waits' | 'again'> {
    const place = this.#next % readAtOnce;
    this.#next += 1;
    const { promise: readEnd, resolve: endReading } = Promise.withResolvers<void>();
    const turn = this.#places[place];
    this.#places[place] = readEnd;
    await turn;
    let isRead = false;
    const leave = () => {
      if (isRead) return;
      isRead = true;
      endReading();
      this.#missing -= 1;
      if (this.#missing === 0) void this.#store();
    };
    const complete = (content: IndexedContent) => {
      const { promise, resolve, reject } = Promise.withResolvers<ItemLeft>();
      this.#read.push({ lease, content, resolve, reject });
      leave();
      return promise;
    };
    return indexLeased(this.#context, lease, signal, complete).finally(leave);
  }

  async #store(): Promise<void> {
    this.#gather();
    const { db, knowledge } = this.#context.storage;
    // What was stored in part is completed alone.
    const [whole, rest] = [this.#read.filter(isWhole), this.#read.filter((item) => !isWhole(item))];
    for (let some = takeSome(whole, db); some.length > 0; some = takeSome(whole, db)) {
      try {
        const left = await knowledge.indexing.groups.complete(some);
        for (const { lease, resolve, reject } of some) {
          const itemLeft = left.get(lease.id);
          if (itemLeft === undefined) reject(new LeaseLostError(`the lease of ${lease.id} is lost`));
          else resolve(itemLeft);
        }
      } catch {
        // One of them cannot be stored, or the database did not answer: each for itself then, and that one fails with its own reason.
        rest.push(...some);
      }
    }
    for (const { lease, content, resolve, reject } of rest)
      await knowledge.indexing.complete(lease, content).then(resolve, reject);
  }
}

interface StoredLater extends ReadItem {
  resolve(left: ItemLeft): void;
  reject(error: unknown): void;
}

function isWhole({ content }: ReadItem): boolean {
  return content.lastChunks.length === content.documentCount;
}

/** Removes as many from the list as one transaction may store: at least one. */
function takeSome(items: StoredLater[], db: Pick<Database, 'kind' | 'makesCallersWait'>): readonly StoredLater[] {
  const chunksMax = chunksOfTransaction(db);
  let chunks = 0;
  const endIndex = items.findIndex(({ content }, index) => {
    chunks += content.lastChunks.length;
    return index > 0 && chunks > chunksMax;
  });
  return items.splice(0, endIndex === -1 ? items.length : endIndex);
}
