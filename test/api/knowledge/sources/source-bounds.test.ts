import { describe, expect, it } from 'vitest';
import { crawlBounds } from '../../../../src/entities/knowledge/data-source.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { sampled } from '../../../support/property/sample.ts';
import { withService } from '../../../support/service.ts';

const { service, make } = await withService();

const ann = await make.person();
const agentId = (await make.agent({ owner: ann })).id;

const site = {
  ...{ url: 'http://127.0.0.1:9/', includeFiles: false, includedFileTypes: ['PDF'] },
  ...{ includeUrlGlobs: [], excludeUrlGlobs: [], maxPages: 5, maxMemory: 64, timeout: 60 },
};
const bundleOf = (data: object) => ({
  version: '1.0',
  agent: { name: 'Ada', description: '', instructions: '', src: '' },
  dataSources: [{ name: 'Site', type: 'WEB_URL', data }],
});

interface Refusal {
  readonly param: string;
  readonly message: string;
}
/** Every way to write the data of a web source. Each gives the refusal; undefined for data that is accepted. */
const ways: Readonly<Record<string, (data: Readonly<Record<string, unknown>>) => Promise<Refusal | undefined>>> = {
  'POST /data-sources/web-url': (data) =>
    byRest(`/api/v1/ais/${agentId}/data-sources/web-url`, { ...data, dataRefreshPeriod: 'NEVER' }),
  'mutation addDataSource': (data) =>
    byGraphQL(
      'mutation ($id: ID!, $input: AddWebUrlDataSourceInput!) { addDataSource(agentId: $id, input: { webUrl: $input }) { dataSource { id } } }',
      { id: agentId, input: { ...inWordsOfTheGraph(data), refreshPeriod: 'NEVER' } },
    ),
  'POST /ais/import': (data) => byRest('/api/v1/ais/import', { bundle: bundleOf(data) }),
  'POST /ais/import?dryRun=true': (data) => byRest('/api/v1/ais/import?dryRun=true', { bundle: bundleOf(data) }),
  'mutation importAgent': (data) =>
    byGraphQL('mutation ($input: ImportAgentInput!) { importAgent(input: $input) { agentId } }', {
      input: { bundle: bundleOf(data) },
    }),
};

const namesInTheGraph: Readonly<Record<string, string>> = { maxMemory: 'maxMemoryMb', timeout: 'timeoutSeconds' };
function inWordsOfTheGraph(data: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(data).map(([name, value]) => [namesInTheGraph[name] ?? name, value]));
}

async function byRest(path: string, body: object): Promise<Refusal | undefined> {
  const reply = await ann.post(path, body);
  expect(reply.status, JSON.stringify(reply.body)).toBeLessThan(500);
  return reply.status < 300 ? undefined : reply.body.error;
}

async function byGraphQL(document: string, variables: Readonly<Record<string, unknown>>): Promise<Refusal | undefined> {
  const [error] = (await ann.graphql(document, variables)).errors ?? [];
  return error === undefined ? undefined : { message: error.message, param: error.extensions.faults[0]?.path ?? '' };
}

const bounds = Object.entries(crawlBounds).flatMap(([name, { min, max }]) =>
  [min - 1, max + 1, 1e9, -1].map((value) => ({ name, value, rule: `must be from ${min} to ${max}` })),
);

describe.each(sampled(Object.entries(ways)))('%s', (way, write) => {
  const nameIn = (name: string) => (way === 'mutation addDataSource' ? (namesInTheGraph[name] ?? name) : name);

  it('takes a site within the bounds', async () => {
    expect(await write(site)).toBeUndefined();
  });
  it.each(bounds)('refuses $name: $value', async ({ name, value, rule }) => {
    const refusal = await write({ ...site, [name]: value });
    expect(refusal?.message).toContain(`${nameIn(name)} ${rule}`);
  });
  it.each<[string, object]>([
    ['url', { url: 'ftp://example.com' }],
    ['includeFiles', { includeFiles: 'yes' }],
    ['includedFileTypes', { includedFileTypes: ['EXE'] }],
    ['includeUrlGlobs', { includeUrlGlobs: ['{a'] }],
    ['excludeUrlGlobs', { excludeUrlGlobs: ['*a'.repeat(21)] }],
    ['maxPages', { maxPages: 1.5 }],
    ['timeout', { timeout: 'long' }],
  ])('refuses another value of %s', async (name, wrong) => {
    expect((await write({ ...site, ...wrong }))?.message).toContain(nameIn(name));
  });
});

it('the job refuses data that an earlier version stored', async () => {
  const added = await ann.post(`/api/v1/ais/${agentId}/data-sources/web-url`, { ...site, dataRefreshPeriod: 'NEVER' });
  const { id } = added.body;
  const stateOf = async () => (await ann.get(`/api/v1/data-sources/${id}`)).body;
  await eventually(async () => expect(await stateOf()).toMatchObject({ indexStatus: 'FAILED' }));
  await service.deps.storage.knowledge.sources.update(id, { data: { ...site, timeout: 1e9 } });
  await ann.post(`/api/v1/data-sources/${id}/refresh`);
  await eventually(async () => expect((await stateOf()).errorMessage).toMatch(/timeout must be from 1 to 86400/));
});

it('an import names members that have no effect', async () => {
  const reply = await ann.post('/api/v1/ais/import?dryRun=true', { bundle: bundleOf({ url: site.url, maxDepth: 3 }) });
  expect(reply.body.warnings).toContain('members without effect left out: maxDepth of Site');
});
