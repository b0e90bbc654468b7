import { type AtlassianStandIn, startAtlassian } from '../../fixtures/upstreams/atlassian.ts';
import { paragraph } from '../../fixtures/upstreams/atlassian-jira.ts';
import { GitHub } from '../../fixtures/upstreams/github.ts';
import { GoogleDrive } from '../../fixtures/upstreams/google-drive.ts';
import { MicrosoftGraph } from '../../fixtures/upstreams/microsoft-graph.ts';
import { html, type Site, startSite } from '../../fixtures/upstreams/site.ts';
import type { StandIn } from '../../fixtures/upstreams/stand-in.ts';
import type { makeFor, Person } from '../make.ts';

/** A kind of connected source, with documents at a stand-in of its service: opening hours, prices, and a third one. */
export interface UpstreamKind {
  readonly name: string;
  /** The last part of the REST path, and the field of GraphQL. */
  readonly path: string;
  readonly mutation: string;
  /** Puts three documents at the stand-in. @returns the input that adds them. */
  prepare(who: Person): Promise<object>;
  /** The address of the document with the prices. */
  readonly citedUrl: RegExp;
  /** The puncture costs twenty euros from now on. */
  change(): void;
  /** The document with the opening hours is gone. */
  remove(): void;
  /** Contents of documents that were sent since the last call. */
  contentsSent(): number;
}

const hours = 'The workshop opens at nine.';
const prices = (euros: string) => `A puncture costs ${euros} euros.`;
const third = 'The lathe needs goggles.';

export interface UpstreamWorld {
  readonly env: Readonly<Record<string, string>>;
  readonly kinds: readonly UpstreamKind[];
  close(): Promise<void>;
}

/** All stand-ins, and the kinds of sources that read them. */
export async function startUpstreams(make: () => ReturnType<typeof makeFor>): Promise<UpstreamWorld> {
  const [site, google, graph, cloud, host] = [
    await startSite(),
    await GoogleDrive.start(),
    await MicrosoftGraph.start(),
    await startAtlassian(),
    await GitHub.start(),
  ];
  return {
    env: {
      ...cloud.env,
      ...{ GOOGLE_API_URL: google.url, GOOGLE_TOKEN_URL: `${google.url}/token` },
      ...{ MICROSOFT_API_URL: graph.url, MICROSOFT_TOKEN_URL: `${graph.server.url}/token` },
      ...{ GOOGLE_CLIENT_ID: 'id', GOOGLE_CLIENT_SECRET: 'secret', MICROSOFT_CLIENT_ID: 'id', MICROSOFT_CLIENT_SECRET: 'secret' },
      ...{ GITHUB_API_URL: host.url, GITHUB_APP_ID: host.appId, GITHUB_APP_PRIVATE_KEY: host.privateKey },
      EGRESS_ALLOW: '127.0.0.1',
    },
    kinds: [webPage(site), driveA(google), driveB(graph), wikiPage(cloud), issue(cloud), repositoryFile(host, make)],
    async close() {
      host.close();
      await Promise.all([site.close(), google.server.close(), graph.close(), cloud.close()]);
    },
  };
}

function webPage(site: Site): UpstreamKind {
  return {
    ...{ name: 'web page', path: 'web-url', mutation: 'addWebUrlDataSource' },
    citedUrl: /^http:\/\/127\.0\.0\.1:\d+\/prices$/,
    async prepare() {
      site.reset();
      site.set('/', html('Start', third, ['/hours', '/prices']));
      site.set('/hours', html('Hours', hours));
      site.set('/prices', html('Prices', prices('fifteen')));
      return { url: `${site.url}/`, dataRefreshPeriod: 'NEVER', includeFiles: false, includedFileTypes: [] };
    },
    change: () => site.set('/prices', html('Prices', prices('twenty'))),
    remove: () => site.delete('/hours'),
    contentsSent() {
      const sent = site.requests.filter(
        ({ path, status }) => status === 200 && path !== '/robots.txt' && !path.includes('sitemap'),
      );
      site.requests.length = 0;
      return sent.length;
    },
  };
}

function driveA(google: GoogleDrive): UpstreamKind {
  let round = 0;
  const id = (name: string) => `${name}-${round}`;
  return {
    ...{ name: 'drive A file', path: 'drive-a', mutation: 'addDriveADataSources' },
    citedUrl: /^https:\/\/drive\.google\.com\/file\/d\/prices-\d+\/view$/,
    async prepare(who) {
      round += 1;
      google.folder(id('shop'));
      const add = (name: string, text: string) => google.add({ id: id(name), name: `${name}.md`, parents: [id('shop')], text });
      add('hours', hours);
      add('prices', prices('fifteen'));
      add('third', third);
      return { oauthTokenId: await connection(who, 'DRIVE_A', google.tokens), files: [{ id: id('shop'), name: 'Shop' }] };
    },
    change: () => google.change(id('prices'), { text: prices('twenty') }),
    remove: () => google.remove(id('hours')),
    contentsSent: () => taken(google.server, ({ query }) => query.get('alt') === 'media'),
  };
}

function driveB(graph: MicrosoftGraph): UpstreamKind {
  let round = 0;
  const id = (name: string) => `${name}-${round}`;
  return {
    ...{ name: 'drive B file', path: 'drive-b', mutation: 'addDriveBDataSource' },
    citedUrl: /\/prices-\d+$/,
    async prepare(who) {
      round += 1;
      graph.drive(id('library'), 'Library');
      const driveId = id('library');
      graph.add({ id: id('shop'), driveId });
      const add = (name: string, text: string) =>
        graph.add({ id: id(name), name: `${name}.md`, driveId, parentId: id('shop'), text });
      add('hours', hours);
      add('prices', prices('fifteen'));
      add('third', third);
      return { oauthTokenId: await connection(who, 'DRIVE_B', graph.tokens), fileId: id('shop'), filename: 'Shop', driveId };
    },
    change: () => graph.change(id('prices'), { text: prices('twenty') }),
    remove: () => graph.remove(id('hours')),
    contentsSent: () => taken(graph.storage, () => true),
  };
}

function wikiPage(cloud: AtlassianStandIn): UpstreamKind {
  const pages = { hours: '', prices: '' };
  return {
    ...{ name: 'wiki page', path: 'wiki', mutation: 'addWikiDataSource' },
    citedUrl: /^https:\/\/acme\.atlassian\.net\/wiki\/spaces\/\w+\/pages\/\d+\/Prices$/,
    async prepare(who) {
      const space = cloud.wiki.space('Workshop');
      pages.hours = cloud.wiki.page(space.id, 'Hours', `<p>${hours}</p>`).id;
      pages.prices = cloud.wiki.page(space.id, 'Prices', `<p>${prices('fifteen')}</p>`).id;
      cloud.wiki.page(space.id, 'Tools', `<p>${third}</p>`);
      const { access, refresh } = cloud.grant();
      return { oauthTokenId: await connection(who, 'WIKI', { access, refresh }), pageName: 'Workshop', spaceId: space.id };
    },
    change: () => cloud.wiki.edit(pages.prices, `<p>${prices('twenty')}</p>`),
    remove: () => void cloud.wiki.pages.delete(pages.hours),
    contentsSent: () => taken(cloud, ({ query }) => query.has('body-format')),
  };
}

function issue(cloud: AtlassianStandIn): UpstreamKind {
  let round = 0;
  let issues: ReturnType<AtlassianStandIn['jira']['issue']>[] = [];
  return {
    ...{ name: 'tracker issue', path: 'tracker', mutation: 'addTrackerDataSource' },
    citedUrl: /^https:\/\/acme\.atlassian\.net\/browse\/K\d+-2$/,
    async prepare(who) {
      round += 1;
      const key = `K${round}`;
      cloud.jira.project(key, `Project ${round}`);
      issues = [
        ['Hours', hours],
        ['Prices', prices('fifteen')],
        ['Tools', third],
      ].map(([summary = '', text = '']) => cloud.jira.issue(key, summary, { description: paragraph(text) }, 9));
      const { access, refresh } = cloud.grant();
      return { oauthTokenId: await connection(who, 'TRACKER', { access, refresh }), projectName: 'Help desk', projectKey: key };
    },
    change() {
      const [, found] = issues;
      if (found === undefined) throw new Error('prepare first');
      found.fields = { ...found.fields, description: paragraph(prices('twenty')) };
      found.updated = new Date();
    },
    remove: () => void cloud.jira.issues.delete(issues[0]?.id ?? ''),
    contentsSent: () => taken(cloud, ({ path }) => /\/issue\/\d+$/.test(path)),
  };
}

function repositoryFile(host: GitHub, make: () => ReturnType<typeof makeFor>): UpstreamKind {
  const files = () => {
    const [repository] = host.repositories.values();
    if (repository === undefined) throw new Error('prepare first');
    return repository.files;
  };
  return {
    ...{ name: 'repository file', path: 'repo-host', mutation: 'addRepoHostDataSource' },
    citedUrl: /^https:\/\/github\.example\/acme\/handbook\/blob\/[0-9a-f]{40}\/prices\.md\?plain=1#L1$/,
    async prepare(who) {
      host.repositories.clear();
      host.add(7, 'acme/handbook', { 'hours.md': hours, 'prices.md': prices('fifteen'), 'tools.md': third });
      await make().installation({ owner: who, installationId: host.installationId, name: 'acme' });
      return { mode: 'repos', repos: ['acme/handbook'], repoHostAppInstallationId: host.installationId };
    },
    change: () => void files().set('prices.md', prices('twenty')),
    remove: () => void files().delete('hours.md'),
    contentsSent: () => host.take(/\/git\/blobs\/|^archive/),
  };
}

async function connection(
  who: Person,
  provider: string,
  { access, refresh }: { access: string; refresh: string },
): Promise<string> {
  const body = { provider, accountName: 'Ann', accessToken: access, refreshToken: refresh };
  const reply = await who.post('/api/v1/connections', body);
  if (reply.status !== 200) throw new Error(JSON.stringify(reply.body));
  return reply.body.id;
}

/** How many requests since the last call fit. */
function taken(server: Pick<StandIn, 'requests'>, fits: (request: StandIn['requests'][number]) => boolean): number {
  const count = server.requests.filter(fits).length;
  server.requests.length = 0;
  return count;
}
