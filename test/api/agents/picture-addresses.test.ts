import { describe, expect, it } from 'vitest';
import { withService } from '../../support/service.ts';

const { make } = await withService('plain', {});
const ann = await make.person();
const agentId = (await make.agent({ owner: ann })).id;

const places: Readonly<Record<string, (address: string) => object>> = {
  src: (src) => ({ src }),
  'profile.socialImage': (socialImage) => ({ profile: { socialImage } }),
  'profile.idleVideo': (idleVideo) => ({ profile: { idleVideo } }),
};
const sentence = 'must be an http or https address, or a data URL of a picture or a video';

describe.each(Object.entries(places))('%s', (name, body) => {
  it.each([
    'javascript:alert(1)',
    'JavaScript:alert(1)',
    ' \u0001javascript:alert(1)',
    'java\nscript:alert(1)',
    'java\tscript\r:alert(1)',
    'vbscript:x',
    'file:///etc/passwd',
    'data:text/html,<script>alert(1)</script>',
    'data:,x',
    'blob:https://example.com/1',
    'ftp://example.com/a.png',
  ])('refuses %j', async (address) => {
    const { status, body: reply } = await ann.patch(`/api/v1/ais/${agentId}`, body(address));
    expect(status).toBe(400);
    expect(JSON.stringify(reply)).toContain(`${name} ${sentence}`);
  });

  it.each([
    '',
    'https://example.com/a.png',
    'HTTP://example.com/a.png?x=a:b',
    'data:image/png;base64,AAAA',
    'data:video/mp4;base64,AAAA',
    '/pictures/a.png',
    'a.png',
    '//example.com/a.png',
    '\u{1F600}',
  ])('takes %j', async (address) => {
    expect((await ann.patch(`/api/v1/ais/${agentId}`, body(address))).status).toBe(200);
  });
});

it('pictureUrl of GraphQL is the same member, by its own name, when an agent is made too', async () => {
  const document = 'mutation ($input: CreateAgentInput!) { createAgent(input: $input) { id } }';
  const input = { name: 'Ada', description: 'x', instructions: 'x', pictureUrl: 'javascript:alert(1)' };
  const { errors } = await ann.graphql(document, { input });
  expect(errors?.[0].message).toBe(`input.pictureUrl ${sentence}`);
});
