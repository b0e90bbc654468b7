import type { Job, JobInsert } from 'pg-boss';
import { BoundedMap } from '../../lib/bounded-map.ts';
import type { ShareOwner } from '../../lib/flow/fair-share.ts';
import type { JobName, NewJob } from './job.ts';

/** What a job holds in pg-boss: its payload, and whose it is. */
export type JobData = { readonly owner?: ShareOwner } & Readonly<Record<string, unknown>>;

/** Most organizations and queues whose last turn is remembered. */
const turnsMax = 10_000;
/** How far apart the turns of one organization are: longer than most jobs take. */
const turnSeconds = 60;
/** Priorities count from here, so that they fit into 32 bits. */
const turnsFromMs = Date.UTC(2026, 0);

/** How jobs stand in pg-boss, and when it is whose turn. */
export class JobRows {
  readonly #lastTurns = new BoundedMap<string, number>(turnsMax);

  make<Name extends JobName>(name: Name, { payload, owner: { tenantId, orgId }, key }: NewJob<Name>): JobInsert<JobData> {
    return {
      data: { ...payload, owner: { tenantId, orgId } },
      // The queue lets one job of a key wait; a job without a key gets a unique one.
      singletonKey: key ?? crypto.randomUUID(),
      // A tenant shares the places of a queue. Jobs without one share a group of their own.
      group: { id: tenantId === '' ? 'nobody' : tenantId },
      priority: -this.#nextTurn(name, orgId),
    };
  }

  read({ data, groupId }: Job<JobData>): { readonly payload: Readonly<Record<string, unknown>>; readonly owner: ShareOwner } {
    // The group of a job that an earlier version queued was `<tenant> <organization>`.
    const [tenantId = '', orgId = ''] = (groupId ?? '').split(' ');
    const { owner = { tenantId, orgId }, ...payload } = data;
    return { payload, owner };
  }

  /**
   * When it is an organization's turn, in seconds. Each job of an organization takes its turn a while after the one before, so thousands of
   * them do not delay the first job of another. Start-time fair queueing (Goyal, 1996), by the clock, so that processes agree without asking.
   */
  #nextTurn(name: JobName, orgId: string): number {
    const key = `${name} ${orgId}`;
    const now = Math.floor((Date.now() - turnsFromMs) / 1_000);
    const turn = Math.max(now, (this.#lastTurns.get(key) ?? 0) + turnSeconds);
    this.#lastTurns.set(key, turn);
    return turn;
  }
}
