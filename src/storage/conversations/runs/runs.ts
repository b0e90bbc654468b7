import { type NewMessage, withTimes } from '../../../entities/conversations/chats/chat.ts';
import type { RunEvent } from '../../../entities/conversations/runs/event.ts';
import type { Run } from '../../../entities/conversations/runs/run.ts';
import { isId } from '../../../entities/ground/ids.ts';
import type { ChatFilter } from '../../../entities/people/access.ts';
import type { Database } from '../../ground/database.ts';
import { type EventPage, readEvents } from './events.ts';
import { createRunLeases, type RunLeases } from './leases.ts';
import { findInChats, instructionsOf } from './queries.ts';
import { type RunRow, runOf, unseen } from './rows.ts';
import { appendTo, type Finished, finishRun, type RunEnding } from './writes.ts';

export type { LeasedRun, LeaseManner, LeaseState } from './leases.ts';

export interface RunStore extends RunLeases {
  find(id: string): Promise<Run | undefined>;
  /** The runs with one of the ids whose chats match. */
  findInChats(ids: readonly string[], filter: ChatFilter): Promise<readonly Run[]>;
  /** The model and request that the run was started with. */
  findRequest(id: string): Promise<{ readonly modelId: string; readonly request: unknown } | undefined>;
  /** What the models of some runs were told first. Cost: one statement. @throws DomainError REPLY_TOO_LARGE. */
  instructionsOf(ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Whether another process restarted the run after this attempt. */
  wasBegunAgain(id: string, attempt: number): Promise<boolean>;
  /** @returns false when the lease was lost: nothing was written. Writing the same batch again is harmless. */
  append(id: string, fence: number, events: readonly RunEvent[]): Promise<boolean>;
  /**
   * Writes the terminal event, status and messages, and hands the chat to the next waiting run at once: in one transaction.
   *
   * @returns undefined when the lease was lost.
   */
  finish(id: string, fence: number, ending: RunEnding): Promise<Finished | undefined>;
  /** Events after a sequence number, in order, about `limit` of them and about LIST_PAGE_MAX_BYTES. Undefined when there is no such run. */
  readEvents(id: string, afterSequence: number, limit: number): Promise<EventPage | undefined>;
  /** What is left of the events of a response that were deleted; its fold is the state of the response. */
  readFolded(id: string): Promise<readonly RunEvent[] | undefined>;
  /** Runs that wait for their thread and were started with this key; none while the key is active. */
  findWaitingOfRevoked(keyId: string): Promise<readonly string[]>;
  /** The messages that were added to a run after the first `taken` times; one array for each time. */
  readSteers(id: string, taken: number): Promise<readonly (readonly NewMessage[])[]>;
  /** The runs of an organization, or of one user in it, that are not over; newest first. */
  listActive(orgId: string, userId: string | undefined, limit: number): Promise<readonly Run[]>;
}

export function createRunStore(db: Database): RunStore {
  return {
    ...createRunLeases(db),
    async find(id) {
      const found = await db.prisma.run.findUnique({ where: { id }, omit: unseen });
      return found === null ? undefined : runOf(found as RunRow);
    },
    findInChats: (ids, filter) => findInChats(db, ids, filter),
    findRequest: async (id) =>
      (await db.prisma.run.findUnique({ where: { id }, select: { modelId: true, request: true } })) ?? undefined,
    instructionsOf: (ids) => instructionsOf(db, ids),
    wasBegunAgain: async (id, attempt) =>
      (await db.prisma.run.findFirst({ where: { id, attempt: { gt: attempt } }, select: { id: true } })) !== null,
    append: (id, fence, events) => appendTo(db, id, fence, events),
    finish: (id, fence, ending) => finishRun(db, id, fence, ending),
    readEvents: (id, afterSequence, limit) => readEvents(db, id, afterSequence, limit),
    async readFolded(id) {
      const found = await db.prisma.foldedResponse.findUnique({ where: { runId: id }, select: { events: true } });
      return found === null ? undefined : (found.events as unknown as readonly RunEvent[]);
    },
    async findWaitingOfRevoked(keyId) {
      const select = { orgId: true };
      const key = isId('session', keyId)
        ? await db.prisma.session.findUnique({ where: { id: keyId, endedBy: 'REVOKED' }, select })
        : await db.prisma.apiKey.findUnique({ where: { id: keyId, revokedAt: { not: null } }, select });
      if (key === null) return [];
      const where = { ...key, keyId, status: 'in_progress', isWaiting: true };
      return (await db.prisma.run.findMany({ where, select: { id: true } })).map(({ id }) => id);
    },
    async readSteers(id, taken) {
      const found = await db.prisma.run.findUnique({ where: { id }, select: { steers: true } });
      const steers = (found?.steers ?? []) as unknown as readonly (readonly NewMessage[])[];
      return steers.slice(taken).map((messages) => messages.map(withTimes));
    },
    async listActive(orgId, userId, limit) {
      const found = await db.prisma.run.findMany({
        where: { orgId, status: 'in_progress', ...(userId === undefined ? {} : { userId }) },
        orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
        take: limit,
        omit: unseen,
      });
      return found.map((row) => runOf(row as RunRow));
    },
  };
}
