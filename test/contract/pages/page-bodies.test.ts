import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { withService } from '../../support/service.ts';

// What pages of the console send to the service, for every path in src/pages that takes JSON.

const { service } = await withService();
const source = join(import.meta.dirname, '../../../src/pages');
/** Forms are sent by browsers and by providers. */
const ofForms = ['/sign-in/oidc/:provider/backchannel-logout', '/oauth/callback'];
const paths = globSync('*.ts', { cwd: source })
  .flatMap((file) => [...readFileSync(join(source, file), 'utf8').matchAll(/\.post\(\s*'([^']+)'/g)].map(([, path = '']) => path))
  .filter((path) => !ofForms.includes(path));

/** As the console sends it, with a type or without one. */
async function send(path: string, body: string, type?: string) {
  const reply = await fetch(service.url + path, {
    method: 'POST',
    headers: {
      origin: service.url,
      'x-graphql-yoga-csrf': '1',
      'graphql-require-preflight': '1',
      ...(type === undefined ? {} : { 'content-type': type }),
    },
    body: Buffer.from(body),
  });
  return { status: reply.status, body: JSON.parse(await reply.text()) };
}

describe.each(paths)('POST %s', (path) => {
  it('takes JSON with its type only, which a form of another site cannot send without asking', async () => {
    const unsupported = { status: 415, body: { error: { code: 'unsupported_media_type' } } };
    expect(await send(path, '{}')).toMatchObject(unsupported);
    expect(await send(path, '{}', 'text/plain')).toMatchObject(unsupported);
  });

  it.each(['[]', 'null', '"text"', '1'])('refuses %s, which is no object', async (body) => {
    expect(await send(path, body, 'application/json')).toMatchObject({ status: 400, body: { error: { code: 'invalid_type' } } });
  });
});

it('are several', () => {
  expect(paths).toEqual(expect.arrayContaining(['/sign-in/password', '/sign-out', '/shared/open']));
});
