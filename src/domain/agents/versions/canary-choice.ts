import { createHash } from 'node:crypto';
import type { RunnableAgent } from '../../../entities/agents/agent.ts';
import { timeOfId } from '../../../entities/ground/ids.ts';

/** Whose run it is, and when that began: by it a canary takes a run or does not. */
export interface CanaryKey {
  readonly key: string;
  readonly begunAt: Date;
}

/** All runs of a chat have the same key. */
export function canaryKeyOfChat(chatId: string): CanaryKey {
  return { key: chatId, begunAt: timeOfId(chatId) };
}

/**
 * Whether the canary of an agent answers a run. The same key has the same answer as long as the canary stands; a chat that began before it goes on
 * without it.
 */
export function takesCanary({ id, canary }: Pick<RunnableAgent, 'id' | 'canary'>, run: CanaryKey | undefined): boolean {
  if (canary === null || run === undefined || run.begunAt < canary.startedAt) return false;
  const hash = createHash('sha256').update(`${id} ${canary.version} ${run.key}`).digest();
  return hash.readUInt32BE(0) % 100 < canary.percent;
}
