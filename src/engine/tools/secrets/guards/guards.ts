import type { Logger } from 'pino';
import type { MaskedKind } from '../../../../entities/agents/guard.ts';
import type { CountedMasks, GuardStore } from '../../../../storage/agents/guards.ts';
import type { Charge } from '../../../plan/plan.ts';
import { createOwnPatterns } from './own-patterns.ts';
import { joinGuards, type RunGuard } from './session.ts';

/** The guards of this process: which one holds for a run, and how much they mask. */
export interface Guards {
  /** A value when it is known: no statement, and no promise. Undefined: nothing is masked. */
  find(charge: Pick<Charge, 'orgId' | 'agentId'>): RunGuard | undefined | Promise<RunGuard | undefined>;
  /** Counts a value that was masked. */
  note(charge: Pick<Charge, 'orgId' | 'agentId'>, kind: MaskedKind): void;
  /** Writes what was counted. */
  close(): Promise<void>;
}

/** Counts are written together, so often. */
const writeEveryMs = 1_000;

export function createGuards(store: GuardStore, logger: Logger, now: () => Date): Guards {
  let counts = new Map<string, CountedMasks>();
  let timer: NodeJS.Timeout | undefined;
  const toOwn = createOwnPatterns();
  const write = async () => {
    timer = undefined;
    const written = [...counts.values()];
    counts = new Map();
    if (written.length > 0) await store.addCounts(written);
  };
  return {
    find({ orgId, agentId }) {
      const nowMs = now().getTime();
      const ofOrganization = store.find(orgId, nowMs);
      const ofAgent = agentId === null ? undefined : store.find(agentId, nowMs);
      if (ofOrganization instanceof Promise || ofAgent instanceof Promise)
        return Promise.all([ofOrganization, ofAgent]).then((guards) => joinGuards(guards, toOwn));
      return ofOrganization === undefined && ofAgent === undefined ? undefined : joinGuards([ofOrganization, ofAgent], toOwn);
    },
    note({ orgId, agentId }, kind) {
      const day = now().toISOString().slice(0, 10);
      const key = `${orgId} ${agentId} ${day} ${kind}`;
      const count = (counts.get(key)?.count ?? 0) + 1;
      counts.set(key, { orgId, agentId: agentId ?? '', day, kind, count });
      timer ??= setTimeout(() => {
        write().catch((error: unknown) => logger.error({ err: error }, 'what guards have masked could not be counted'));
      }, writeEveryMs).unref();
    },
    async close() {
      clearTimeout(timer);
      await write();
    },
  };
}
