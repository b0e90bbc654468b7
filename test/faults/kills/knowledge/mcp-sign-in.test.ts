import { afterAll, afterEach, beforeEach, expect, it } from 'vitest';
import { type GuardedMcp, startGuardedMcp } from '../../../fixtures/upstreams/mcp/authorization.ts';
import type { TestClient } from '../../../support/client.ts';
import { WalkingBrowser } from '../../../support/people/walk.ts';
import { type Killable, prepareKillable } from '../../../support/processes/killable.ts';

/** A process that is killed between the code of a sign-in at an MCP server and its tokens: nothing is left of it, and the person begins again. */
const guarded: GuardedMcp = await startGuardedMcp();
let world: Killable;
beforeEach(async () => {
  guarded.reset();
  world = await prepareKillable();
});
afterEach(() => world.close());
afterAll(() => guarded.close());

const codes = () =>
  guarded.asked.filter(({ path }) => path === '/as/token').map(({ body }) => new URLSearchParams(body).get('code') ?? '');
const connectionOf = async (who: TestClient, id: string) => (await who.get(`/api/v1/connections/${id}`)).body;

/** Agrees at the authorization server. @returns the address that the browser is sent back to, with the code. */
async function agree(who: TestClient, connectionId: string): Promise<string> {
  const { body } = await who.post('/api/v1/connections/authorize', { provider: 'MCP', connectionId });
  expect(body).toMatchObject({ url: expect.any(String) });
  const callback = `${new URL(who.url).origin}/oauth/callback`;
  const { url } = await new WalkingBrowser(() => who.url).walk(body.url, callback);
  expect(url.startsWith(callback)).toBe(true);
  return url;
}

it.each([
  ['before the authorization server takes the code', true],
  ['when the tokens are on the way', false],
])('leaves nothing of a sign-in that a kill cuts off %s', { timeout: 300_000 }, async (_when, isBefore) => {
  const { parley, ann } = await world.launch();
  const stored = await ann.post('/api/v1/connections/mcp-servers', { name: 'Notes', url: guarded.url });
  const id = stored.body.id as string;
  const callback = await agree(ann, id);
  guarded.intercept = async (path) => {
    if (path !== '/as/token') return false;
    await parley.kill('SIGKILL');
    return isBefore;
  };
  await expect(fetch(callback).then((reply) => reply.text())).rejects.toThrow();
  expect(codes()).toHaveLength(1);
  guarded.intercept = undefined;

  const again = await world.recover();
  expect(await connectionOf(again, id)).toMatchObject({ needsReauthorization: true, scopes: [] });
  // The browser loads the page once more: the code is not sent again.
  const { pathname, search } = new URL(callback);
  const repeated = await fetch(new URL(pathname + search, again.url));
  expect(repeated.status).toBeGreaterThanOrEqual(400);
  expect(codes()).toHaveLength(1);

  const page = await fetch(await agree(again, id));
  const word = /name="word" value="([^"]+)"/.exec(await page.text())?.[1] ?? '';
  const callbackUrl = new URL('/oauth/callback', again.url);
  expect((await fetch(callbackUrl, { method: 'POST', body: new URLSearchParams({ word }), redirect: 'manual' })).status).toBe(
    200,
  );
  expect(await connectionOf(again, id)).toMatchObject({
    needsReauthorization: false,
    scopes: expect.arrayContaining(['mcp:read']),
  });
  expect(new Set(codes()).size).toBe(codes().length);
});
