import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { ApiAuth, ApiFunction } from '../../../../src/engine/tools/api-function/api-function.ts';
import { secretKeysIn } from '../../../../src/entities/agents/part.ts';
import { migrate } from '../../../../src/storage/ground/migrations/migrate.ts';
import type { ApiServer } from '../../../support/egress/api-server.ts';
import { canary, withSharedAgents } from '../../../support/runs/shared-agents.ts';
import { noteEarlierMigrations } from '../../../support/storage/schema.ts';

const at = await withSharedAgents({});

type Data = Readonly<Record<string, unknown>>;
const headers = { 'X-Api-Key': '{{secret:CRM_KEY}}' };

const auths: Readonly<Record<ApiAuth['type'], readonly Data[]>> = {
  apiKey: [{ name: 'X-Key' }, { in: 'query', name: 'key' }],
  bearerToken: [{}],
  basicAuth: [{ username: 'ann' }],
  header: [{ name: 'X-Own' }],
};
/** Tool data with the reference in each member that a call uses; a new member does not compile without a line here. */
const places: Readonly<Record<keyof ApiFunction, (url: string) => readonly Data[]>> = {
  userinfo: (url) => [{ url: url.replace('//', '//{{secret:CRM_KEY}}@') }],
  path: (url) => [{ url: `${url}/a/{{secret:CRM_KEY}}` }],
  search: (url) => [{ url: `${url}/?key={{secret:CRM_KEY}}` }],
  headers: (url) => [
    { url, headers },
    { url, headers: { Cookie: 'a={{secret:CRM_KEY}}' } },
  ],
  query: (url) => [{ url, query: { key: '{{secret:CRM_KEY}}' } }],
  body: (url) => [
    { url, method: 'POST', body: { deep: [{ key: '{{secret:CRM_KEY}}' }] } },
    { url, method: 'POST', headers: { 'Content-Type': 'application/x-www-form-urlencoded' }, body: 'key={{secret:CRM_KEY}}' },
    { url, method: 'POST', headers: { 'Content-Type': 'text/plain' }, body: 'key {{secret:CRM_KEY}}' },
  ],
  auth: (url) =>
    Object.entries(auths).flatMap(([type, more]) => more.map((one) => ({ url, auth: { type, secretKey: 'CRM_KEY', ...one } }))),
  // These members accept no secret.
  description: () => [],
  parameters: () => [],
  declared: () => [],
  method: () => [],
  origin: () => [],
};

it.each(Object.entries(places).flatMap(([member, data]) => data('http://a').map((_one, index) => [member, index] as const)))(
  'a secret in %s (%i) is sent home, and is refused and not sent elsewhere',
  async (member, index) => {
    const dataAt = (url: string) => places[member as keyof ApiFunction](url)[index] ?? {};
    expect(secretKeysIn(dataAt(at.home.url))).toEqual(member === 'auth' ? [] : ['CRM_KEY']);
    const agent = await at.sharedAgent();
    await agent.addSecret(at.owner, { origins: [at.home.url] });
    const tool = await agent.addTool(at.editor, dataAt(at.home.url));
    await at.called(at.editor, agent.id);
    expect(at.home.requests).toHaveLength(1);
    expect(
      `${decodeURIComponent(at.home.requests[0]?.path ?? '')}${JSON.stringify(at.home.requests)}${basicOf(at.home)}`,
    ).toContain(canary);
    at.expectRefused(
      await at.editor.patch(`${agent.path}/tools/${tool.body.id}`, { data: dataAt(at.elsewhere.url) }),
      expect.any(String),
    );
    // Written directly to the database, as an older version may have done: the call itself refuses.
    const moved = JSON.stringify(tool.body.data).replaceAll(
      at.home.url.slice('http://'.length),
      at.elsewhere.url.slice('http://'.length),
    );
    await at.service.deps.storage.db.pool.query('update agent_tools set data = $2 where id = $1', [tool.body.id, moved]);
    at.service.deps.storage.signals.publish('agent-changed', agent.id);
    expect(await at.called(at.editor, agent.id)).toMatch(/^Error: The call was not made: the secret CRM_KEY was given for/);
    expect(at.elsewhere.requests).toEqual([]);
  },
);

function basicOf(api: ApiServer): string {
  return Buffer.from(String(api.requests[0]?.headers.authorization ?? '').replace('Basic ', ''), 'base64').toString();
}

it('a database of an older version binds what it stores to the tools that name it', async () => {
  const agent = await at.sharedAgent();
  const { pool } = at.service.deps.storage.db;
  await agent.addTool(at.owner, { url: at.home.url, headers: { 'X-Api-Key': canary } }, 'odd');
  await agent.addTool(at.owner, { url: 'https://ann:pw@API.example.com:443/x?y={z}', headers: { 'X-Api-Key': canary } }, 'far');
  await agent.addSecret(at.owner, { origins: [at.home.url, 'https://a.example'] });
  await agent.addTool(at.owner, { url: `${at.home.url}/{x}`, headers }, 'named');
  const spare = await agent.addSecret(at.owner, { key: 'SPARE', origins: [at.home.url] });
  expect(spare.status).toBe(200);
  const odd = { url: at.home.url, headers: { 'X-Api-Key': '{{secret:ODD_HEADERS_X_API_KEY}}' }, note: '\u0000' };
  await pool.query("update agent_tools set data = $1 where name = 'odd'", [JSON.stringify(odd)]);
  await pool.query('alter table agent_secrets drop column origins, drop column "givenByUserId"');
  const name = '15_secret_origins';
  await noteEarlierMigrations(pool);
  await pool.query('delete from parley_migrations where name = $1', [name]);
  expect(await migrate(pool)).toEqual([name]);
  const origins = Object.fromEntries((await agent.secrets()).map((secret) => [secret.key, secret.origins]));
  expect(origins).toEqual({
    CRM_KEY: [at.home.url],
    FAR_HEADERS_X_API_KEY: ['https://api.example.com'],
    FAR_URL: ['https://api.example.com'],
    // PostgreSQL does not decode this tool's data, so its secret must be given again.
    ODD_HEADERS_X_API_KEY: [],
    SPARE: [],
  });
});

it('stored secrets are opened in one place for tools, in one for connections, and in one to sign for webhooks', () => {
  const root = new URL('../../../../src', import.meta.url).pathname;
  const holding = (text: string) =>
    readdirSync(root, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && readFileSync(join(root, name), 'utf8').includes(text))
      .sort();
  expect(holding('vault.open(')).toEqual([
    'domain/conversations/tasks/notifications.ts',
    'domain/operations/webhooks/delivery.ts',
    'engine/knowledge/connections/secrets.ts',
    'engine/tools/secrets/bound-secrets.ts',
  ]);
  expect(holding('.sealedFor(')).toEqual(['engine/tools/secrets/bound-secrets.ts']);
});
