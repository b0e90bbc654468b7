import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { browse } from '../../../../src/engine/knowledge/connections/browse.ts';
import type { BrowseQuery } from '../../../../src/engine/knowledge/connections/browser.ts';
import type { Connection } from '../../../../src/entities/knowledge/connection.ts';
import { GoogleDrive, googleTypes } from '../../../fixtures/upstreams/google-drive.ts';
import { MicrosoftGraph } from '../../../fixtures/upstreams/microsoft-graph.ts';
import { type ConnectorBench, connectorBench } from '../../../support/knowledge/connector-bench.ts';

let google: GoogleDrive;
let graph: MicrosoftGraph;
let bench: ConnectorBench;
beforeEach(async () => {
  google = await GoogleDrive.start();
  graph = await MicrosoftGraph.start();
  bench = connectorBench({ GOOGLE_API_URL: google.url, MICROSOFT_API_URL: graph.url }, { access: 'token-1' });
});
afterEach(() => Promise.all([bench.close(), google.server.close(), graph.close()]));

const list = (provider: Connection['provider'], query: BrowseQuery = {}) =>
  browse(bench.services, { id: 'oat_1', provider } as Connection, query, new AbortController().signal);

describe('browsing Google Drive', () => {
  beforeEach(() => {
    google.folder('reports');
    google.folder('y2026', 'reports');
    google.add({ id: 'plan', name: "Ann's plan", parents: ['y2026'], text: 'x' });
    google.add({ id: 'film', name: 'film.mp4', mimeType: 'video/mp4', parents: ['y2026'], text: 'x' });
  });

  it('begins with shared drives, what is shared, and the own drive', async () => {
    google.add({ id: 'team', name: 'Team', mimeType: googleTypes.folder, parents: [], driveId: 'team' });
    expect(await list('DRIVE_A')).toEqual({
      entries: [
        { id: 'team', name: 'Team', kind: 'drive', hasChildren: true, canBeAdded: true, path: 'Team' },
        {
          id: 'shared-with-me',
          name: 'Shared with me',
          kind: 'drive',
          hasChildren: true,
          canBeAdded: false,
          path: 'Shared with me',
        },
        { id: 'reports', name: 'reports', kind: 'folder', hasChildren: true, canBeAdded: true, path: 'reports' },
      ],
      nextCursor: null,
    });
  });

  it('shows what is in a folder, with its place, page by page', async () => {
    google.pageSize = 1;
    const first = await list('DRIVE_A', { parent: 'y2026' });
    expect(first.entries).toEqual([
      {
        id: 'plan',
        name: "Ann's plan",
        kind: 'file',
        hasChildren: false,
        canBeAdded: true,
        path: "reports / y2026 / Ann's plan",
      },
    ]);
    const second = await list('DRIVE_A', { parent: 'y2026', cursor: first.nextCursor ?? '' });
    expect(second).toMatchObject({ entries: [{ id: 'film', canBeAdded: false }], nextCursor: null });
  });

  it('searches by name, whatever characters it has', async () => {
    expect((await list('DRIVE_A', { search: "ann's" })).entries.map(({ id }) => id)).toEqual(['plan']);
    expect((await list('DRIVE_A', { search: 'nothing' })).entries).toEqual([]);
  });

  it('does not let the id of a parent end its place in the query', async () => {
    await expect(list('DRIVE_A', { parent: "x' in parents or 'my-drive" })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('browsing OneDrive', () => {
  beforeEach(() => {
    graph.add({ id: 'reports', name: 'Reports & more' });
    graph.add({ id: 'plan', name: "Ann's plan.docx", parentId: 'reports', text: 'x' });
    graph.drive('library', 'Library');
    graph.add({ id: 'rules', name: 'rules.md', driveId: 'library', text: 'x' });
  });

  it('begins with other drives and the own one', async () => {
    expect(await list('DRIVE_B')).toEqual({
      entries: [
        { id: 'library/root', name: 'Library', kind: 'drive', hasChildren: true, canBeAdded: true, path: 'Library' },
        { id: 'reports', name: 'Reports & more', kind: 'folder', hasChildren: true, canBeAdded: true, path: 'Reports & more' },
      ],
      nextCursor: null,
    });
  });

  it('shows what is in a folder and in another drive', async () => {
    expect((await list('DRIVE_B', { parent: 'reports' })).entries).toMatchObject([
      { id: 'plan', kind: 'file', canBeAdded: true, path: "Reports & more / Ann's plan.docx" },
    ]);
    expect((await list('DRIVE_B', { parent: 'library/root' })).entries).toMatchObject([
      { id: 'library/rules', path: 'rules.md' },
    ]);
  });

  it('goes on by a cursor, and by none that leads elsewhere', async () => {
    graph.add({ id: 'second', text: 'x' });
    graph.pageSize = 1;
    const { nextCursor } = await list('DRIVE_B', { parent: 'root' });
    expect(await list('DRIVE_B', { parent: 'root', cursor: nextCursor ?? '' })).toMatchObject({
      entries: [{ id: 'second' }],
      nextCursor: null,
    });
    const cursor = Buffer.from('https://elsewhere.example/v1.0/me').toString('base64url');
    await expect(list('DRIVE_B', { cursor })).rejects.toMatchObject({ code: 'BAD_REPLY' });
  });

  it('searches by name', async () => {
    expect((await list('DRIVE_B', { search: "ann's" })).entries.map(({ id }) => id)).toEqual(['plan']);
  });
});

it('connections without such things say so', async () => {
  await expect(list('MCP')).rejects.toMatchObject({ code: 'CONFIGURATION' });
});
