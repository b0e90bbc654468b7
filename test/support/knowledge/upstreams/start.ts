import { startAtlassian } from '../../../fixtures/upstreams/atlassian.ts';
import { GitHub } from '../../../fixtures/upstreams/github.ts';
import { GoogleDrive } from '../../../fixtures/upstreams/google-drive.ts';
import { MicrosoftGraph } from '../../../fixtures/upstreams/microsoft-graph.ts';
import { startSite } from '../../../fixtures/upstreams/site.ts';
import { trackerIssue, wikiPage } from './atlassian.ts';
import { driveA, driveB } from './drives.ts';
import type { UpstreamKind } from './kind.ts';
import { type RepositoryServices, repositoryFile } from './repository-file.ts';
import { webPage } from './web-page.ts';

export interface UpstreamWorld {
  readonly env: Readonly<Record<string, string>>;
  readonly kinds: readonly UpstreamKind[];
  close(): Promise<void>;
}

/** All stand-ins, and the kinds of sources that read them. */
export async function startUpstreams(services: () => RepositoryServices): Promise<UpstreamWorld> {
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
    kinds: [webPage(site), driveA(google), driveB(graph), wikiPage(cloud), trackerIssue(cloud), repositoryFile(host, services)],
    async close() {
      host.close();
      await Promise.all([site.close(), google.server.close(), graph.close(), cloud.close()]);
    },
  };
}
