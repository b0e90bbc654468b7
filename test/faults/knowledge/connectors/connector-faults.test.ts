import { afterAll, describe, it } from 'vitest';
import type { UpstreamKind } from '../../../support/knowledge/upstreams/kind.ts';
import { startUpstreams } from '../../../support/knowledge/upstreams/start.ts';
import { inTurn } from '../../../support/property/sample.ts';
import { withService } from '../../../support/service.ts';
import { type Bench, Scene } from './scene.ts';
import { faults } from './table.ts';

let bench: Bench;
const world = await startUpstreams(() => bench);
afterAll(() => world.close());
bench = await withService('plain', {
  env: {
    ...world.env,
    CONNECTOR_BACKOFF_MS: '1',
    CONNECTOR_TIMEOUT_MS: '1500',
    CRAWL_TIMEOUT_MS: '1500',
    UPLOAD_MAX_BYTES: '300000',
  },
});

describe.each(world.kinds.map((kind, turn) => [kind.name, kind, turn] as const))('%s', (_name, kind: UpstreamKind, turn) => {
  const cells = Object.entries(faults).map(([fault, row]) => [fault, row[kind.name as keyof typeof row]] as const);
  const possible = cells.flatMap(([fault, cell]) => (typeof cell === 'string' ? [] : [[fault, cell] as const]));
  it.each(inTurn(possible, turn))('%s', async (_fault, { check, more }) => {
    await check(await Scene.set(bench, kind, more?.(kind)));
  });
});
