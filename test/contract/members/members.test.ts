import { beforeAll, describe, expect, it } from 'vitest';
import type { Reply } from '../../support/client.ts';
import type { Person } from '../../support/make.ts';
import { eventually } from '../../support/processes/eventually.ts';
import { withService } from '../../support/service.ts';
import { type MemberType, resources } from './members.ts';

// Every member of every resource of the contract is in replies, with its type. Lists in the replies are not empty, so that their items are checked
// too.

const { service, make } = await withService();
let ann: Person;
let agentId: string;
let chatId: string;
let sourceId: string;
let itemId: string;

beforeAll(async () => {
  const organization = await make.organization();
  ann = await make.person({ organization, role: 'ADMIN', name: 'Ann' });
  const bob = await make.person({ organization, name: 'Bob' });
  const members = { name: 'Readers', availability: 'RESTRICTED', memberEmails: `${bob.email}, nobody@example.com` };
  const group = (await ann.post('/api/v1/groups', members)).body.id;
  const category = (await ann.post('/api/v1/ai-categories', { name: 'Desk' })).body.id;
  const numbers = ['temperature', 'topP', 'topK', 'maxTokens', 'maxInputTokens', 'frequencyPenalty', 'presencePenalty'];
  agentId = (
    await make.agent({
      owner: ann,
      visibility: 'GROUP',
      groups: [group],
      editors: [{ id: bob.userId }],
      publicCategories: ['PRODUCTIVITY'],
      orgCategoryIds: [category],
      introduction: 'Ask me.',
      enabledTools: [standingTool],
      options: Object.fromEntries(numbers.map((name) => [name, [name.startsWith('max') ? 1_000 : 1]])),
      profile: {
        headline: 'Knows',
        features: [{ title: 'Quotes', description: 'Exactly.' }],
        conversations: [{ title: 'Hours' }],
      },
    })
  ).id;
  await addParts();
  sourceId = (await make.apiDataSource({ owner: ann, agentId, data: { hours: 'Open from 9 to 17.' } })).id;
  await eventually(async () => {
    expect((await ann.get(`/api/v1/data-sources/${sourceId}`)).body.indexStatus).toBe('INDEXED');
  });
  itemId = (await ann.get(`/api/v1/data-sources/${sourceId}/knowledge`)).body.data[0].id;
  chatId = (await make.chat({ owner: ann, agentId, name: 'Hours' })).id;
  await good(ann.post(`/api/v1/chats/${chatId}/messages`, { prompt: 'When are you open?' }));
  await good(ann.post(`/api/v1/chats/${chatId}/files`, fileForm()));
  const limits = { dataUsageTokenLimit: 1_000_000, apiUsageTokenLimit: 1_000_000 };
  await good(service.client().patch(`/api/v1/admin/organizations/${organization.id}`, limits));
});

/** A standing tool with every member that a tool of its type has. */
const standingTool = {
  type: 'web_search',
  requireApproval: true,
  includeXSearch: true,
  searchContextSize: 'high',
  filters: { allowedDomains: ['example.com'] },
};

async function addParts(): Promise<void> {
  const path = `/api/v1/ais/${agentId}`;
  const auth = { type: 'apiKey', in: 'header', name: 'X-Api-Key', secretKey: 'WEATHER_API_KEY' };
  const data = { description: 'Weather', parameters: { type: 'object' }, method: 'GET', url: 'https://api.example.com', auth };
  const step = { id: 'answer', type: 'model', prompt: 'Answer.' };
  const versions = [{ version: 1, active: true, description: 'First', data: { steps: [step] } }];
  await good(ann.post(`${path}/secrets`, { key: 'WEATHER_API_KEY', secretType: 'apiKey', value: 'the key itself' }));
  await good(ann.post(`${path}/tools`, { name: 'get_weather', type: 'API_FUNCTION', data }));
  await good(ann.post(`${path}/user-inputs`, { variableName: 'place', type: 'SHORT_TEXT', label: 'Where?' }));
  await good(ann.post(`${path}/skills`, { name: 'Refunds', description: 'Money back', content: 'Ask first.' }));
  await good(ann.post(`${path}/flows`, { name: 'Flow', enabled: true, versions }));
}

function fileForm(): FormData {
  const form = new FormData();
  form.append('file', new Blob(['Hello'], { type: 'text/plain' }), 'note.txt');
  return form;
}

// biome-ignore lint/suspicious/noExplicitAny: bodies of any shape; what is found in them is what is checked.
async function good(reply: Promise<Reply>): Promise<any> {
  const { status, body } = await reply;
  expect([status, JSON.stringify(body)]).toEqual([expect.toSatisfy((found: number) => found < 300), expect.any(String)]);
  return body;
}
function indexed({ data }: { readonly data: readonly { readonly id: string }[] }) {
  return data.find(({ id }) => id === sourceId);
}
const update = { generateCitations: true };

/** Each operation that returns a resource, and the path to the resource in its reply. */
const replies: readonly (readonly [operation: string, resource: keyof typeof resources, () => Promise<unknown>])[] = [
  ['Get AI', 'agent', () => good(ann.get(`/api/v1/ais/${agentId}`))],
  [
    'Create AI',
    'agent',
    async () => {
      const { id: _id, ...members } = await good(ann.get(`/api/v1/ais/${agentId}`));
      return good(ann.post('/api/v1/ais', members));
    },
  ],
  ['Update AI fields', 'agent', () => good(ann.patch(`/api/v1/ais/${agentId}`, update))],
  ['List AIs', 'agent', async () => (await good(ann.get('/api/v1/ais'))).data[0]],
  ['Generate AI profile', 'profile', () => good(ann.post(`/api/v1/ais/${agentId}/profile`))],
  ['Export agent', 'bundle', () => good(ann.get(`/api/v1/ais/${agentId}/export`))],
  [
    'Create agent from bundle',
    'importReply',
    async () => good(ann.post('/api/v1/ais/import', { bundle: await good(ann.get(`/api/v1/ais/${agentId}/export`)) })),
  ],
  ['List chats of an AI', 'chat', async () => (await good(ann.get(`/api/v1/ais/${agentId}/chats`))).data[0]],
  ["List current user's chats", 'chat', async () => (await good(ann.get('/api/v1/chats'))).data[0]],
  ['Create chat for an AI', 'chat', () => good(ann.post(`/api/v1/ais/${agentId}/chats`, {}))],
  ['Get chat', 'chatWithMessages', () => good(ann.get(`/api/v1/chats/${chatId}`))],
  ['Duplicate chat', 'chatWithMessages', () => good(ann.post(`/api/v1/chats/${chatId}/duplicate`))],
  ['List files of a chat', 'chatFile', async () => (await good(ann.get(`/api/v1/chats/${chatId}/files`))).data[0]],
  ['Upload a file', 'chatFile', () => good(ann.post(`/api/v1/chats/${chatId}/files`, fileForm()))],
  [
    'Create a file record',
    'chatFile',
    () => good(ann.post(`/api/v1/chats/${chatId}/file-records`, { filename: 'a.txt', size: 5, mimeType: 'text/plain' })),
  ],
  ['List data sources of an AI', 'dataSource', async () => indexed(await good(ann.get(`/api/v1/ais/${agentId}/data-sources`)))],
  [
    'Add API data source',
    'addedDataSource',
    () => good(ann.post(`/api/v1/ais/${agentId}/data-sources/api`, { name: 'Desk', data: { floor: 2 } })),
  ],
  [
    'Add file-upload data source',
    'addedDataSource',
    () => good(ann.post(`/api/v1/ais/${agentId}/data-sources/file`, fileForm())),
  ],
  [
    'Add web URL source',
    'addedDataSource',
    () =>
      good(
        ann.post(`/api/v1/ais/${agentId}/data-sources/web-url`, {
          ...{ url: 'https://example.com', dataRefreshPeriod: 'WEEKLY', includeFiles: false, includedFileTypes: [] },
        }),
      ),
  ],
  ['List data sources', 'listedDataSource', async () => indexed(await good(ann.get('/api/v1/data-sources')))],
  ['Update a data source', 'dataSource', () => good(ann.patch(`/api/v1/data-sources/${sourceId}`, { cite: true }))],
  [
    'Attach a data source',
    'attachReply',
    () => good(ann.post(`/api/v1/ais/${agentId}/data-sources`, { dataSourceId: sourceId })),
  ],
  [
    'Create signed upload token',
    'uploadToken',
    () => good(ann.post(`/api/v1/ais/${agentId}/data-sources/upload-token`, { filename: 'a.txt', size: 5 })),
  ],
  ['Indexing statistics', 'statistics', () => good(ann.get(`/api/v1/data-sources/${sourceId}/indexing-statistics`))],
  [
    'List knowledge items',
    'knowledgeItem',
    async () => (await good(ann.get(`/api/v1/data-sources/${sourceId}/knowledge`))).data[0],
  ],
  [
    'Update a knowledge item',
    'knowledgeItem',
    () => good(ann.patch(`/api/v1/data-sources/${sourceId}/knowledge/${itemId}`, { cite: true })),
  ],
  ['Create API key', 'createdApiKey', () => good(ann.post('/api/v1/api-keys', { name: 'Report', scopes: ['AGENTS:READ'] }))],
  ['List API keys', 'apiKey', async () => (await good(ann.get('/api/v1/api-keys'))).data[0]],
  [
    'Create group',
    'groupWithUsers',
    () => good(ann.post('/api/v1/groups', { name: 'G', availability: 'EVERYONE', memberEmails: 'a@example.com' })),
  ],
  ['List groups of the current user', 'group', async () => (await good(ann.get('/api/v1/groups')))[0]],
  [
    'Update group',
    'groupWithUsers',
    async () => {
      const [{ id }] = await good(ann.get('/api/v1/groups'));
      return good(ann.patch(`/api/v1/groups/${id}`, { memberEmailsToAdd: 'b@example.com' }));
    },
  ],
  [
    'Organization usage by AI',
    'usage',
    () =>
      eventually(async () => {
        const report = await good(ann.get('/api/v1/usage'));
        expect(report.aiUsages).not.toEqual([]);
        return report;
      }),
  ],
  [
    'Chat completions',
    'completion',
    () => good(ann.post('/api/v1/chat/completions', { model: agentId, messages: [{ role: 'user', content: 'Hello' }] })),
  ],
  ['Reset chat', 'chat', () => good(ann.post(`/api/v1/chats/${chatId}/reset`))],
];

describe('members of the contract', () => {
  it.each(replies)('%s answers every member of %s', async (_operation, resource, ask) => {
    expect(faultsOf(await ask(), { members: resources[resource] }, '')).toEqual([]);
  });

  it('a reset chat has messages, none', async () => {
    const { id } = await good(ann.post(`/api/v1/chats/${chatId}/duplicate`));
    expect((await good(ann.post(`/api/v1/chats/${id}/reset`))).messages).toEqual([]);
  });

  it('groups of the caller come as a bare array without users', async () => {
    const groups = await good(ann.get('/api/v1/groups'));
    expect(groups).toEqual(expect.any(Array));
    expect(groups[0]).not.toHaveProperty('users');
  });
});

/** Where a value does not have its type. An empty list proves nothing, so it counts as a fault of the test. */
function faultsOf(value: unknown, type: MemberType, place: string): readonly string[] {
  if (typeof type === 'string')
    return isOfType(value, type) ? [] : [`${place}: ${type} expected, found ${JSON.stringify(value)}`];
  if ('oneOf' in type) return type.oneOf.includes(String(value)) ? [] : [`${place}: unknown value ${JSON.stringify(value)}`];
  if ('listOf' in type) {
    if (!Array.isArray(value)) return [`${place}: a list expected, found ${JSON.stringify(value)}`];
    if (value.length === 0) return [`${place}: is empty`];
    return value.flatMap((item, index) => faultsOf(item, type.listOf, `${place}[${index}]`));
  }
  if (!isOfType(value, 'object')) return [`${place}: an object expected, found ${JSON.stringify(value)}`];
  const found = value as Readonly<Record<string, unknown>>;
  return Object.entries(type.members).flatMap(([name, member]) => faultsOf(found[name], member, `${place}.${name}`));
}

function isOfType(value: unknown, type: MemberType & string): boolean {
  switch (type) {
    case 'integer':
      return Number.isInteger(value);
    case 'number':
    case 'string':
    case 'boolean':
      return typeof value === type;
    case 'string or null':
      return value === null || typeof value === 'string';
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
    case 'date-time':
      return typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value);
    default:
      return value === null || isOfType(value, 'date-time');
  }
}
