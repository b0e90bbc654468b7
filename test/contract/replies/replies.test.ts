import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { allRoutes } from '../../../src/rest/routes/index.ts';
import { withService } from '../../support/service.ts';
import { type Exchange, printExchange, printExchanges, Recorder } from './exchange.ts';
import { Steady } from './steady.ts';

// REST replies stay what they are, byte by byte. test/fixtures/replies has requests and their replies: the requests are sent again, in their
// order, and every reply must be the recorded one. `vitest -u` records the replies anew; a new request is a line of its own, without a reply.

const folder = resolve(import.meta.dirname, '../../fixtures/replies');
const files = readdirSync(folder).toSorted();
const recorded = files.map((name) => JSON.parse(readFileSync(resolve(folder, name), 'utf8')) as readonly Exchange[]);
const requestCount = recorded.flat().length;

const env = {
  SEARCH_URL: 'http://127.0.0.1:1',
  IMAGE_MODEL: 'openai/test-image',
  GITHUB_APP_ID: '1',
  GITHUB_APP_PRIVATE_KEY: 'unused.pem',
};
const { service, make, upstream } = await withService('web', { env });
/** Hundreds of requests, on a machine that does other work. */
const timeoutMs = 400_000;

const organization = await make.organization();
const ann = await make.person({ organization, role: 'ADMIN' });
const bob = await make.person({ organization });
const reader = await make.withKey(ann, { scopes: ['CHATS:READ'] });
await make.installation({ owner: ann, installationId: 4_711, name: 'ann' });
const recorder = new Recorder(
  { ann, bob, reader, nobody: service.nobody, operator: service.client() },
  { orgId: organization.id, tenantId: organization.tenantId, bobId: bob.userId, annId: ann.userId },
  new Steady([[service.url, '<url>']], JSON.stringify(recorded)),
  upstream,
);

it.each(files.map((name, index) => [name, recorded[index] ?? []] as const))(
  'every reply of %s is the recorded one',
  async (name, exchanges) => {
    const replies = await repliesTo(files.indexOf(name));
    try {
      await expect(printExchanges(replies)).toMatchFileSnapshot(resolve(folder, name));
    } catch {
      expect.fail(differences(exchanges, replies));
    }
  },
  timeoutMs,
);

const played: Promise<readonly Exchange[]>[] = [];

/**
 * Sends the requests of a file, once. Requests name what those of earlier files made, and ids are counted from the first file on, so the earlier files are
 * sent first: each test has the same result alone, in any order, and when another one fails.
 */
function repliesTo(file: number): Promise<readonly Exchange[]> {
  played[file] ??= (async () => {
    if (file > 0) await repliesTo(file - 1);
    const replies: Exchange[] = [];
    for (const exchange of recorded[file] ?? []) replies.push(await recorder.record(exchange));
    return replies;
  })();
  return played[file];
}

it(`${requestCount} requests reach every route`, () => {
  const sent = recorded.flat().map(({ send }) => send);
  const isSent = (method: string, path: string) => {
    const pattern = new RegExp(`^${method} ${path.replaceAll(/\{\w+\}/g, '[^?]+')}(?:\\?|$)`);
    return sent.some((send) => pattern.test(send));
  };
  expect(allRoutes.filter(({ method, path }) => !isSent(method.toUpperCase(), path)).map(({ path }) => path)).toEqual([]);
  expect(requestCount).toBeGreaterThanOrEqual(541);
});

const shownMax = 10;
const contextCharacters = 120;

/** The first replies that differ, each with the place where it begins to. */
function differences(expected: readonly Exchange[], actual: readonly Exchange[]): string {
  const differing = expected.flatMap((exchange, index) => {
    const [before, after] = [printExchange(exchange), printExchange(actual[index] ?? exchange)];
    return before === after ? [] : [describeDifference(exchange, before, after)];
  });
  return `${differing.length} replies differ\n${differing.slice(0, shownMax).join('\n')}`;
}

function describeDifference({ send, body }: Exchange, before: string, after: string): string {
  let place = 0;
  while (before[place] === after[place]) place += 1;
  const part = (text: string) => text.slice(Math.max(0, place - contextCharacters), place + contextCharacters);
  const sent = body === undefined ? '' : ` ${JSON.stringify(body).slice(0, 500)}`;
  return `${send}${sent}\n  - ${part(before)}\n  + ${part(after)}`;
}
