import type { Settings } from '../../settings.ts';
import { redisProblem } from '../../storage/ground/redis/check.ts';
import { type Finding, good, warning, wrong } from './finding.ts';

/** Whether REDIS_URL can be used, where it is set. */
export async function checkRedis({ REDIS_URL }: Pick<Settings, 'REDIS_URL'>): Promise<readonly Finding[]> {
  if (REDIS_URL === undefined) return [];
  const problem = await redisProblem(REDIS_URL);
  if (problem === undefined) return [good('redis', 'Redis answers and can be written to.')];
  const { isLasting, message, advice } = problem;
  if (isLasting) return [wrong('redis', message, advice)];
  return [warning('redis', message, `${advice} Until it answers, changes are looked up in the database.`)];
}
