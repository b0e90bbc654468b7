import { BoundedMap } from '../../lib/bounded-map.ts';
import type { ShareOwner } from '../../lib/flow/fair-share.ts';
import type { JobName } from './job.ts';

/** Most organizations and queues whose last turn is remembered. */
const turnsMax = 10_000;
/** How far apart the turns of one organization are: longer than most jobs take. */
const turnSeconds = 60;
/** Priorities count from here, so that they fit into 32 bits. */
const turnsFromMs = Date.UTC(2026, 0);

/**
 * When it is an organization's turn. Each job of an organization takes its turn a while after the one before, so thousands of them do not delay the first
 * job of another. Start-time fair queueing (Goyal, 1996), by the clock, so that processes agree without asking.
 */
export class Turns {
  readonly #lastTurns = new BoundedMap<string, number>(turnsMax);

  /** In seconds: the lowest is next. */
  next(name: JobName, orgId: string): number {
    const key = `${name} ${orgId}`;
    const now = Math.floor((Date.now() - turnsFromMs) / 1_000);
    const turn = Math.max(now, (this.#lastTurns.get(key) ?? 0) + turnSeconds);
    this.#lastTurns.set(key, turn);
    return turn;
  }
}

/** The group that shares the places of a queue: a tenant. Jobs without one share a group of their own. */
export function groupOfTenant(tenantId: string): string {
  return tenantId === '' ? 'nobody' : tenantId;
}

/** The owner of a job that an earlier version queued: its group was `<tenant> <organization>`. */
export function ownerOfGroup(group: string | null | undefined): ShareOwner {
  const [tenantId = '', orgId = ''] = (group ?? '').split(' ');
  return { tenantId, orgId };
}
