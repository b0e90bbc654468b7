import { type NewMessage, withTimes } from '../../../entities/conversations/chats/chat.ts';
import type { RunEvent } from '../../../entities/conversations/runs/event.ts';
import type { Run } from '../../../entities/conversations/runs/run.ts';
import { isId } from '../../../entities/ground/ids.ts';
import type { ChatFilter } from '../../../entities/people/access.ts';
import type { Database } from '../../ground/database.ts';
import { type EventPage, readEvents } from './events.ts';
import { RunLeases } from './leases.ts';
import { findInChats, loadInstructions } from './queries.ts';
import { type RunRow, toRun, unseen } from './rows.ts';
import { appendTo, type Finished, finishRun, type RunEnding } from './writes.ts';

export type { LeasedRun, LeaseManner, LeaseState } from './leases.ts';

export class RunStore extends RunLeases {
  readonly #db: Database;

  constructor(db: Database) {
    super(db);
    this.#db = db;
  }

  async find(id: string): Promise<Run | undefined> {
    const found = await this.#db.prisma.run.findUnique({ where: { id }, omit: unseen });
    return found === null ? undefined : toRun(found as RunRow);
  }

  /** The runs with one of the ids whose chats match. */
  findInChats(ids: readonly string[], filter: ChatFilter): Promise<readonly Run[]> {
    return findInChats(this.#db, ids, filter);
  }

  /** The model and request that the run was started with. */
  async findRequest(id: string): Promise<{ readonly modelId: string; readonly request: unknown } | undefined> {
    return (await this.#db.prisma.run.findUnique({ where: { id }, select: { modelId: true, request: true } })) ?? undefined;
  }

  /** What the models of some runs were told first. Cost: one statement. @throws DomainError REPLY_TOO_LARGE. */
  instructionsOf(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return loadInstructions(this.#db, ids);
  }

  /** Whether another process restarted the run after this attempt. */
  async wasBegunAgain(id: string, attempt: number): Promise<boolean> {
    return (await this.#db.prisma.run.findFirst({ where: { id, attempt: { gt: attempt } }, select: { id: true } })) !== null;
  }

  /** @returns false when the lease was lost: nothing was written. Writing the same batch again is harmless. */
  append(id: string, fence: number, events: readonly RunEvent[]): Promise<boolean> {
    return appendTo(this.#db, id, fence, events);
  }

  /**
   * Writes the terminal event, status and messages, and hands the chat to the next waiting run at once: in one transaction.
   *
   * @returns undefined when the lease was lost.
   */
  finish(id: string, fence: number, ending: RunEnding): Promise<Finished | undefined> {
    return finishRun(this.#db, id, fence, ending);
  }

  /** Events after a sequence number, in order, about `limit` of them and about LIST_PAGE_MAX_BYTES. Undefined when there is no such run. */
  readEvents(id: string, afterSequence: number, limit: number): Promise<EventPage | undefined> {
    return readEvents(this.#db, id, afterSequence, limit);
  }

  /** What is left of the events of a response that were deleted; its fold is the state of the response. */
  async readFolded(id: string): Promise<readonly RunEvent[] | undefined> {
    const found = await this.#db.prisma.foldedResponse.findUnique({ where: { runId: id }, select: { events: true } });
    return found === null ? undefined : (found.events as unknown as readonly RunEvent[]);
  }

  /** Runs that wait for their thread and were started with this key; none while the key is active. */
  async findWaitingOfRevoked(keyId: string): Promise<readonly string[]> {
    const select = { orgId: true };
    const key = isId('session', keyId)
      ? await this.#db.prisma.session.findUnique({ where: { id: keyId, endedBy: 'REVOKED' }, select })
      : await this.#db.prisma.apiKey.findUnique({ where: { id: keyId, revokedAt: { not: null } }, select });
    if (key === null) return [];
    const where = { ...key, keyId, status: 'in_progress', isWaiting: true };
    return (await this.#db.prisma.run.findMany({ where, select: { id: true } })).map(({ id }) => id);
  }

  /** The messages that were added to a run after the first `taken` times; one array for each time. */
  async readSteers(id: string, taken: number): Promise<readonly (readonly NewMessage[])[]> {
    const found = await this.#db.prisma.run.findUnique({ where: { id }, select: { steers: true } });
    const steers = (found?.steers ?? []) as unknown as readonly (readonly NewMessage[])[];
    return steers.slice(taken).map((messages) => messages.map(withTimes));
  }

  /** The runs of an organization, or of one user in it, that are not over; newest first. */
  async listActive(orgId: string, userId: string | undefined, limit: number): Promise<readonly Run[]> {
    const found = await this.#db.prisma.run.findMany({
      where: { orgId, status: 'in_progress', ...(userId === undefined ? {} : { userId }) },
      orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
      take: limit,
      omit: unseen,
    });
    return found.map((row) => toRun(row as RunRow));
  }
}
