import type { Health } from '../../../entities/operations/installation.ts';
import type { Deps } from '../../deps.ts';

const healthTimeoutMs = 2_000;

/** Whether this process can serve: what `/readyz` and `Query.installation` say. Never rejects, and takes two seconds at most. */
export async function checkHealth(deps: Pick<Deps, 'storage' | 'knowledge' | 'models'>): Promise<Health> {
  try {
    return await withTimeout(loadHealth(deps));
  } catch {
    return { state: 'unavailable', reason: 'database', problems: ['The database does not answer in time.'] };
  }
}

/** @throws Error when the database does not answer. */
async function loadHealth({
  storage: { db, signals },
  knowledge,
  models,
}: Pick<Deps, 'storage' | 'knowledge' | 'models'>): Promise<Health> {
  await db.pool.query('SELECT 1');
  const full = await db.room.shortage();
  if (full !== undefined) {
    return { state: 'unavailable', reason: 'storage_full', problems: [`There is no room left on ${full}.`] };
  }
  const state = signals.state();
  if (state === 'lost') {
    const problem = 'Changes of other instances do not arrive: the database answers neither notifications nor look-ups in time.';
    return { state: 'unavailable', reason: 'signals', problems: [problem] };
  }
  const shortcomings = [
    signals.problem(),
    knowledge.shortcoming,
    await knowledge.copy?.index.shortcoming(),
    ...models.problems(),
  ];
  const problems = shortcomings.filter((problem) => problem !== undefined);
  return { state: problems.length === 0 ? 'ready' : 'degraded', problems };
}

async function withTimeout<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('too slow')), healthTimeoutMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
