import { expect, it } from 'vitest';
import { withService } from '../../../support/service.ts';

/** Refusals of an address are counted, so the file has a service of its own. */
const { service } = await withService('plain', { env: { LOG_LEVEL: 'fatal' } });
const post = (path: string, body: string) =>
  fetch(service.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-requested-with': 'console', origin: service.url },
    body,
  });

it.each([
  '/sign-in/link',
  '/sign-in/password',
  '/sign-in/invitation',
  '/sign-in/invitation/show',
  '/sign-in/passkey/options',
  '/sign-in/passkey',
  '/sign-out',
  '/shared/open',
])('a page that calls %s sends a JSON object, and nothing else is read', async (path) => {
  for (const body of ['null', '["a"]']) {
    const reply = await post(path, body);
    expect([reply.status, ((await reply.json()) as { error: object }).error]).toMatchObject([
      400,
      { code: 'invalid_type', message: 'The body must be a JSON object' },
    ]);
  }
});
