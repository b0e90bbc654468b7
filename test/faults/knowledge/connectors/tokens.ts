import { expect } from 'vitest';
import type { UpstreamTokens } from '../../../support/knowledge/upstreams/kind.ts';
import type { Scene } from './scene.ts';

function tokensOf({ kind }: Scene): UpstreamTokens {
  const { tokens } = kind.faults;
  if (tokens === undefined) throw new Error(`the ${kind.name} has no tokens`);
  return tokens;
}

/** An access token ends before the listing, or while contents are read by several workers: it is renewed once. */
export async function tokenExpires(scene: Scene): Promise<void> {
  const tokens = tokensOf(scene);
  const before = tokens.renewals();
  tokens.expire();
  scene.kind.change();
  await scene.expectNewPrice(await scene.refresh());
  expect(tokens.renewals() - before).toBe(1);
  scene.kind.faults.fail('content', { before: () => tokens.expire() });
  await scene.expectNewPrice(await scene.refresh(true));
  expect(tokens.renewals() - before).toBe(2);
}

export async function refreshTokenRotates(scene: Scene): Promise<void> {
  const tokens = tokensOf(scene);
  tokens.rotate?.();
  const before = tokens.renewals();
  tokens.expire();
  scene.kind.change();
  await scene.expectNewPrice(await scene.refresh());
  // Only the new refresh token gives this one.
  tokens.expire();
  await scene.expectNewPrice(await scene.refresh());
  expect(tokens.renewals() - before).toBe(2);
}

export async function refreshTokenIsRevoked(scene: Scene): Promise<void> {
  const { kind, ann, id, service } = scene;
  const tokens = tokensOf(scene);
  tokens.revoke();
  kind.change();
  expect(await scene.refresh()).toMatchObject({ status: 'FAILED', errorCode: 'AUTH' });
  const source = await scene.source();
  expect(source).toMatchObject({ indexStatus: 'INDEXED', errorCode: 'AUTH' });
  expect(source.errorMessage).toMatch(/connect|install/i);
  await scene.expectAllKept();
  const { pool } = service.deps.storage.db;
  const isDue = async () => {
    await pool.query(
      `update data_sources set "refreshPeriod" = 'DAILY', "lastSyncedAt" = now() - interval '9 days' where id = $1`,
      [id],
    );
    const due = await service.deps.storage.knowledge.syncing.findDue();
    await pool.query(`update data_sources set "refreshPeriod" = 'NEVER' where id = $1`, [id]);
    return due.some((one) => one.id === id);
  };
  expect(await isDue()).toBe(false);

  await tokens.reconnect(ann);
  const run = await scene.next();
  expect(run).toMatchObject({ trigger: 'RECONNECTED' });
  await scene.expectNewPrice(run);
  expect(await isDue()).toBe(true);
}
