import { writeFile } from 'node:fs/promises';
import { afterAll, describe, expect, it } from 'vitest';
import type { BrowseQuery } from '../../../../src/engine/knowledge/connections/browser.ts';
import { createInstallationTokens } from '../../../../src/engine/knowledge/connections/installations.ts';
import { createConnectionTokens } from '../../../../src/engine/knowledge/connections/tokens.ts';
import { browseWiki } from '../../../../src/engine/knowledge/connectors/confluence/browse.ts';
import { fetchWiki } from '../../../../src/engine/knowledge/connectors/confluence/fetch.ts';
import { listWiki } from '../../../../src/engine/knowledge/connectors/confluence/list.ts';
import type {
  Connector,
  FetchTask,
  ListedPage,
  ListingEnd,
  ListTask,
} from '../../../../src/engine/knowledge/connectors/connector.ts';
import { SourceError } from '../../../../src/engine/knowledge/connectors/error.ts';
import { browseTracker } from '../../../../src/engine/knowledge/connectors/jira/browse.ts';
import { accountService } from '../../../../src/engine/knowledge/connectors/registry.ts';
import { ServiceClient } from '../../../../src/engine/knowledge/connectors/service-client/client.ts';
import { startAtlassian } from '../../../fixtures/upstreams/atlassian.ts';
import type { Person } from '../../../support/make.ts';
import { withService } from '../../../support/service.ts';

const cloud = await startAtlassian({ pageMax: 2 });
const { service, make } = await withService('plain', { env: cloud.env });
const { settings, storage, logger, egress } = service.deps;
const vendors = new ServiceClient({ egress, timeoutMs: 20_000, connectTimeoutMs: 2_000, waitFactor: 0 });
const now = () => new Date();
const tokens = createConnectionTokens({
  ...{ storage, vendors, logger, now },
  oauthService: (provider) => accountService(provider).oauth(settings),
});
const installations = createInstallationTokens({ settings, storage, vendors, now });
const services = { settings, storage, logger, egress, vendors, tokens, installations, now };
afterAll(async () => {
  await vendors.close();
  await cloud.close();
});
const ann = await make.person();
const { signal } = new AbortController();

async function connect(who: Person, provider: 'WIKI' | 'TRACKER') {
  const { access: accessToken, refresh: refreshToken } = cloud.grant();
  const { id } = (await who.post('/api/v1/connections', { provider, accountName: 'Ann', accessToken, refreshToken })).body;
  const found = await storage.knowledge.connections.find(id, {});
  if (found === undefined) throw new Error('the connection is missing');
  return found;
}

describe('a picker of wiki pages', async () => {
  const connection = await connect(ann, 'WIKI');
  const browse = (query: BrowseQuery) => browseWiki(services, connection, query, signal);
  const { wiki } = cloud;
  const [garden, house] = [wiki.space('Garden'), wiki.space('House')];
  wiki.space('Shed');
  const roses = wiki.page(garden.id, 'Roses', '<p>Red.</p>');
  const pruning = wiki.page(garden.id, 'Pruning', '<p>In March.</p>', { parentId: roses.id });
  const folder = wiki.folder(garden.id, roses.id, 'Kinds');
  const wild = wiki.page(garden.id, 'Wild roses', '<p>Pink.</p>', { parentId: folder, parentType: 'folder' });

  it('goes from spaces down through pages and folders, part by part', async () => {
    const first = await browse({});
    expect(first.entries).toEqual([
      { id: garden.id, name: 'Garden', kind: 'space', hasChildren: true, canBeAdded: true, path: 'Garden' },
      { id: house.id, name: 'House', kind: 'space', hasChildren: true, canBeAdded: true, path: 'House' },
    ]);
    expect(await browse({ cursor: first.nextCursor ?? '' })).toMatchObject({
      entries: [{ name: 'Shed' }, { name: 'Plans' }],
      nextCursor: null,
    });
    expect((await browse({ parent: garden.id })).entries).toMatchObject([{ id: roses.id, kind: 'page', path: 'Garden / Roses' }]);
    expect((await browse({ parent: roses.id })).entries).toMatchObject([
      { id: folder, kind: 'folder', canBeAdded: true, path: 'Garden / Roses / Kinds' },
      { id: pruning.id, kind: 'page', path: 'Garden / Roses / Pruning' },
    ]);
    expect((await browse({ parent: folder })).entries).toMatchObject([{ id: wild.id, kind: 'page' }]);
  });

  it('finds spaces by words of their names, and pages by their titles', async () => {
    expect((await browse({ search: 'hed' })).entries).toMatchObject([{ name: 'Shed' }]);
    expect((await browse({ search: 'Pruning' })).entries).toMatchObject([{ id: pruning.id }]);
  });
});

describe('a picker of projects', async () => {
  const connection = await connect(ann, 'TRACKER');
  const browse = (query: BrowseQuery) => browseTracker(services, connection, query, signal);
  for (const key of ['ALPHA', 'BETA', 'GAMMA']) cloud.jira.project(key, `Project ${key.toLowerCase()}`);

  it('lists them by the key that a source is added by', async () => {
    const first = await browse({});
    expect(first.entries).toMatchObject([
      {
        id: 'ALPHA',
        name: 'Project alpha',
        kind: 'project',
        hasChildren: false,
        canBeAdded: true,
        path: 'Project alpha (ALPHA)',
      },
      { id: 'BETA' },
    ]);
    expect(await browse({ cursor: first.nextCursor ?? '' })).toMatchObject({ entries: [{ id: 'GAMMA' }], nextCursor: null });
    expect((await browse({ search: 'gam' })).entries).toMatchObject([{ id: 'GAMMA' }]);
    await expect(browse({ cursor: 'x' })).rejects.toMatchObject({ code: 'BAD_REPLY' });
  });

  it('says which sites there are when nothing names one', async () => {
    cloud.sites.push({ id: 'cloud-2', name: 'Globex', url: 'https://globex.atlassian.net' });
    await expect(browse({})).rejects.toThrow('Globex (https://globex.atlassian.net, cloudId cloud-2)');
    cloud.sites.splice(1);
  });
});

/** A drive with one readable file. */
class Drive implements Connector {
  tasks: ListTask[] = [];
  fetched: FetchTask[] = [];
  failure: SourceError | undefined;

  async *list(task: ListTask): AsyncGenerator<ListedPage, ListingEnd, void> {
    this.tasks.push(task);
    if (this.failure !== undefined) throw this.failure;
    const uniqueId = String(task.source.data.fileId);
    const about = { parentUniqueId: 'folder', name: 'Plan', url: 'https://docs.google.com/document/d/1PlanPlanPlan/edit' };
    yield {
      items: [
        { ...about, uniqueId, changeKey: '7', filename: 'Plan.md', mimeType: 'text/markdown', metadata: { ofDrive: true } },
      ],
      place: null,
    };
    return { isComplete: true };
  }
  async fetch(task: FetchTask) {
    this.fetched.push(task);
    await writeFile(task.path, 'The plan.');
    return { mimeType: 'text/markdown' };
  }
}

const knownFile = { parentUniqueId: null, changeKey: '7', metadata: {}, notes: {}, isIndexed: true, isListed: false };

describe('files of a drive that pages link to', async () => {
  const connection = await connect(ann, 'WIKI');
  const link = '<p><a href="https://docs.google.com/document/d/1PlanPlanPlan/edit">Plan</a></p>';
  const page = cloud.wiki.page(cloud.wiki.space('Plans').id, 'Plans', link);
  const data = { oauthTokenId: connection.id, pageId: page.id, indexDriveFiles: true, selectedDriveAccount: 'oat_drive' };
  const owner = { orgId: ann.orgId, tenantId: ann.tenantId, ownerUserId: ann.userId };
  const source = { id: 'ds_test', type: 'WIKI', data, ...owner } as const;
  const task = (isKnown = false): ListTask => ({
    ...{ source, isForced: false, state: undefined, place: undefined, signal, progress: () => undefined },
    known: async (ids) => new Map(isKnown ? ids.map((uniqueId) => [uniqueId, { ...knownFile, uniqueId }]) : []),
  });
  async function list(drive: Drive, isKnown = false) {
    const parts: ListedPage[] = [];
    for await (const part of listWiki({ ...services, drive }, task(isKnown))) parts.push(part);
    return parts;
  }

  it('are listed and fetched by the connector of the drive, with the account of the source', async () => {
    const drive = new Drive();
    const item = (await list(drive)).flatMap(({ items }) => items).find(({ uniqueId }) => uniqueId === '1PlanPlanPlan');
    expect(drive.tasks[0]?.source).toMatchObject({ type: 'DRIVE_A', ...owner });
    expect(drive.tasks[0]?.source.data).toEqual({
      oauthTokenId: 'oat_drive',
      fileId: '1PlanPlanPlan',
      filename: '1PlanPlanPlan',
    });
    expect(item).toMatchObject({ parentUniqueId: page.id, changeKey: '7', metadata: { ofDrive: true, linkedFrom: page.id } });
    if (item === undefined) throw new Error('the file is missing');
    const path = `${settings.DATA_DIR}/linked-file`;
    const fetch = { source, item: { ...item, metadata: item.metadata ?? {} }, path, bytesMax: 1_000, signal };
    expect(await fetchWiki({ ...services, drive }, fetch)).toEqual({ mimeType: 'text/markdown' });
    expect(drive.fetched[0]?.source.data.oauthTokenId).toBe('oat_drive');
  });

  it('are named with the reason when they cannot be read, and kept while the drive refuses the account', async () => {
    const drive = new Drive();
    drive.failure = new SourceError('AUTH', 'Google Drive does not accept the connection any more: connect it again.');
    expect((await list(drive, true)).flatMap(({ unchangedIds = [] }) => unchangedIds)).toEqual(['1PlanPlanPlan']);
    const items = (await list(drive)).flatMap((part) => part.items);
    expect(items.at(-1)?.skipped).toEqual({
      code: 'AUTH',
      message: expect.stringContaining('connect it again. A page links to'),
    });
    drive.failure = new SourceError('UNREACHABLE', 'Google Drive did not answer.');
    await expect(list(drive)).rejects.toThrow('did not answer');
  });
});
