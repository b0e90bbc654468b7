import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, describe, expect, it } from 'vitest';
import { hasBrowser } from '../../support/browser/browser.ts';
import { checkScreen, openConsole, overflowWidth, signIn } from '../../support/browser/console.ts';
import { makeChallenge, postForm } from '../../support/people/oauth.ts';
import { withService } from '../../support/service.ts';

/** Where the program of the person waits for its answer. */
const answers: URL[] = [];
const program = createServer((req, res) => {
  // Browsers ask for a favicon too.
  if (req.url?.startsWith('/callback') === true) answers.push(new URL(req.url, 'http://localhost'));
  res.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>Done</title><h1>Back in the program</h1>');
});
await new Promise<void>((resolve) => program.listen(0, '127.0.0.1', resolve));
afterAll(() => void program.close());
const callback = `http://127.0.0.1:${(program.address() as AddressInfo).port}/callback`;
const { service, make } = await withService();

const ann = await make.person({ name: 'Ann Example' });
await make.agent({ owner: ann, name: 'Ada' });
const client = { client_name: 'Desk <b>helper</b>', redirect_uris: [callback] };
const clientId = (await service.nobody.post('/oauth/register', client)).body.client_id;

function addressFor(challenge: string): string {
  const query = { response_type: 'code', client_id: clientId, redirect_uri: callback, code_challenge: challenge };
  return `${service.url}/oauth/authorize?${new URLSearchParams({ ...query, code_challenge_method: 'S256', scope: 'AGENTS:READ CHATS:WRITE DATA_SOURCES:READ' })}`;
}

const callMcp = (token: string) =>
  fetch(`${service.url}/mcp`, {
    method: 'POST',
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
    headers: {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      authorization: `Bearer ${token}`,
    },
  });

describe.skipIf(!hasBrowser())('a program of the person, in the console', () => {
  it('is connected when the person has signed in and agreed, is listed, and is disconnected', async () => {
    const { page, context, problems } = await openConsole(service, ann, '/account');
    await page.getByText('You have connected no program.').waitFor();
    await context.clearCookies();
    const { verifier, challenge } = makeChallenge();
    await page.goto(addressFor(challenge));
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await signIn(service, context, ann);
    await page.reload();
    await page.getByRole('link', { name: 'Go on' }).click();
    await page.getByRole('heading', { name: 'Connect Desk <b>helper</b>?' }).waitFor();
    await page.getByText('Nobody knows this program').waitFor();
    await page.getByRole('listitem').filter({ hasText: 'Ask these agents in your name' }).waitFor();
    await page.getByText(`As Ann Example (${ann.email})`).waitFor();
    await checkScreen(page, 'consent');
    await page.getByRole('button', { name: 'Connect' }).click();
    await page.getByRole('heading', { name: 'Back in the program' }).waitFor();
    const code = answers.at(-1)?.searchParams.get('code') ?? '';
    const form = { grant_type: 'authorization_code', client_id: clientId, code, code_verifier: verifier, redirect_uri: callback };
    const { body } = await postForm(`${service.url}/oauth/token`, form);
    expect((await callMcp(body.access_token)).status).toBe(200);
    await page.goto(`${service.url}/account`);
    const row = page.getByRole('listitem').filter({ hasText: 'Desk <b>helper</b>' });
    await row.getByText('sees agents, asks agents, searches knowledge').waitFor();
    await checkScreen(page, 'connected-programs');
    await row.getByRole('button', { name: 'Disconnect' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Disconnect' }).click();
    await page.getByText('You have connected no program.').waitFor();
    expect((await callMcp(body.access_token)).status).toBe(401);
    expect(problems).toEqual([]);
  });

  it('is refused, and told so', async () => {
    const { page } = await openConsole(service, ann, '/account', { scheme: 'dark', width: 390, locale: 'de-DE' });
    await page.goto(addressFor(makeChallenge().challenge));
    await page.getByRole('heading', { name: 'Desk <b>helper</b> verbinden?' }).waitFor();
    expect(await overflowWidth(page)).toBe(0);
    await checkScreen(page, 'consent-phone-dark-german');
    await page.getByRole('button', { name: 'Ablehnen' }).click();
    await page.getByRole('heading', { name: 'Back in the program' }).waitFor();
    expect(answers.at(-1)?.searchParams.get('error')).toBe('access_denied');
  });

  it('that asks wrongly is explained to the person', async () => {
    const { page } = await openConsole(service, ann, '/account');
    await page.goto(addressFor('short'));
    await page.getByRole('heading', { name: 'Not connected' }).waitFor();
    await checkScreen(page, 'consent-refused');
  });
});
