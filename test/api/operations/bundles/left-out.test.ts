import { beforeAll, describe, expect, it } from 'vitest';
import type { Organization, Person } from '../../../support/make.ts';
import { withService } from '../../../support/service.ts';

const { make, service } = await withService('web');

/** A text in each place that only editors read. */
const inside = {
  instructions: 'canary-instructions',
  enabledTools: 'canary-enabled-tools.example.com',
  tools: 'canary-tools',
  flows: 'canary-flows',
  skills: 'canary-skills',
  secrets: 'CANARY_SECRET_KEY',
};
const leftOutMembers = ['agent.instructions', 'agent.enabledTools', 'tools', 'flows', 'skills', 'requiredSecrets'];

let organization: Organization;
let callers: Readonly<Record<'owner' | 'editor' | 'administrator' | 'colleague', Person>>;
let agent: { readonly id: string };

beforeAll(async () => {
  organization = await make.organization();
  const [owner, editor, colleague] = await Promise.all([1, 2, 3].map(() => make.person({ organization })));
  const administrator = await make.person({ organization, role: 'ADMIN' });
  if (owner === undefined || editor === undefined || colleague === undefined) throw new Error('no people');
  callers = { owner, editor, administrator, colleague };
  agent = await make.agent({
    owner,
    visibility: 'ORGANIZATION',
    instructions: inside.instructions,
    editors: [{ id: editor.userId }],
    enabledTools: [{ type: 'python' }, { type: 'web_search', filters: { allowed_domains: [inside.enabledTools] } }],
  });
  const data = {
    description: 'Counts',
    url: `https://api.example.com/${inside.tools}`,
    headers: { 'X-Key': '{{secret:CANARY_SECRET_KEY}}' },
  };
  for (const [path, body] of [
    ['tools', { name: 'stock', type: 'API_FUNCTION', data }],
    ['skills', { name: 'Refunds', description: 'Money back', content: inside.skills }],
    [
      'flows',
      { name: 'Greets', versions: [{ version: 1, active: true, data: { steps: [{ type: 'prompt', text: inside.flows }] } }] },
    ],
  ] as const) {
    const reply = await owner.post(`/api/v1/ais/${agent.id}/${path}`, body);
    expect(reply.status, JSON.stringify(reply.body)).toBeLessThan(300);
  }
});

/** The texts of `inside` that the reads of an agent show to a caller. */
async function readable(caller: Person): Promise<readonly string[]> {
  const paths = ['', '/tools', '/skills', '/flows', '/secrets'].map((end) => `/api/v1/ais/${agent.id}${end}`);
  const replies = await Promise.all(paths.map((path) => caller.get(path)));
  return among(JSON.stringify(replies.map(({ body }) => body)));
}

function among(text: string): readonly string[] {
  return Object.values(inside).filter((canary) => text.includes(canary));
}

describe('an exported bundle', () => {
  it.each(['owner', 'editor', 'administrator', 'colleague'] as const)(
    'shows the %s what reads of the agent show, no more',
    async (who) => {
      const caller = callers[who];
      const exported = await caller.get(`/api/v1/ais/${agent.id}/export`);
      expect(exported.status).toBe(200);
      expect(among(JSON.stringify(exported.body))).toEqual(await readable(caller));
      const isWhole = who !== 'colleague';
      expect(among(JSON.stringify(exported.body))).toEqual(isWhole ? Object.values(inside) : []);
      expect('warnings' in exported.body).toBe(!isWhole);
    },
  );

  it('names what is left out, in the body and in the header, and over GraphQL', async () => {
    const exported = await callers.colleague.get(`/api/v1/ais/${agent.id}/export`);
    expect(exported.body).toMatchObject({
      agent: { name: expect.any(String), instructions: '', enabledTools: [{ type: 'python' }] },
      ...{ tools: [], flows: [], skills: [], requiredSecrets: [] },
    });
    expect(exported.body.warnings.map(({ param }: { param: string }) => param)).toEqual(leftOutMembers);
    expect(exported.headers.get('x-parley-warnings')).toContain('agent.instructions left out');
    const query = `{ agentBundle(agentId: "${agent.id}") { file warnings { code param } } }`;
    const { data } = await callers.colleague.graphql(query);
    const warnings = leftOutMembers.map((param) => ({ code: 'left_out', param }));
    expect(data.agentBundle).toMatchObject({ file: { tools: [], warnings }, warnings });
  });

  it('is imported with its warnings', async () => {
    const { body: bundle } = await callers.colleague.get(`/api/v1/ais/${agent.id}/export`);
    expect(await callers.colleague.post('/api/v1/ais/import', { bundle })).toMatchObject({ status: 200 });
  });

  it('is an audit entry, whoever exports it', async () => {
    for (const caller of [callers.administrator, callers.colleague]) await caller.get(`/api/v1/ais/${agent.id}/export`);
    await service.deps.audit.flush();
    const query = '{ auditLog(first: 100, filter: { action: "agentBundle" }) { nodes { actorUserId kind targetId } } }';
    const { data } = await callers.administrator.graphql(query);
    for (const { userId } of [callers.administrator, callers.colleague]) {
      expect(data.auditLog.nodes).toContainEqual({ actorUserId: userId, kind: 'READ', targetId: agent.id });
    }
  });
});
