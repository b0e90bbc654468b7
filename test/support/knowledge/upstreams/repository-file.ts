import { storeAccount } from '../../../../src/domain/knowledge/connections.ts';
import type { GitHub } from '../../../fixtures/upstreams/github.ts';
import type { makeFor } from '../../make.ts';
import type { TestService } from '../../service.ts';
import { always, circle, hours, prices, third, type UpstreamKind, withMembers } from './kind.ts';

export interface RepositoryServices {
  readonly make: ReturnType<typeof makeFor>;
  readonly service: TestService;
}

/** Two repositories, of which the second has the third document. */
export function repositoryFile(host: GitHub, services: () => RepositoryServices): UpstreamKind {
  const files = () => {
    const found = host.repositories.get(7);
    if (found === undefined) throw new Error('prepare first');
    return found.files;
  };
  const paths = { hours: 'hours.md', prices: 'prices.md' } as const;
  const listing = /\/acme\/handbook\/git\/trees\//;
  const hidden = { status: 404, body: { message: 'Not Found' }, times: always };
  return {
    ...{ name: 'repository file', path: 'repo-host', choice: 'repoHost' },
    citedUrl: /^https:\/\/github\.example\/acme\/handbook\/blob\/[0-9a-f]{40}\/prices\.md\?plain=1#L1$/,
    async prepare(who) {
      host.faults.clear();
      host.isInstalled = true;
      host.repositories.clear();
      host.add(7, 'acme/handbook', { [paths.hours]: hours, [paths.prices]: prices('fifteen') });
      host.add(8, 'acme/tools', { 'tools.md': third });
      await services().make.installation({ owner: who, installationId: host.installationId, name: 'acme' });
      return { mode: 'repos', repos: ['acme/handbook', 'acme/tools'], repoHostAppInstallationId: host.installationId };
    },
    change: () => void files().set(paths.prices, prices('twenty')),
    remove(name = 'hours') {
      if (name === 'third') host.repositories.get(8)?.files.clear();
      else files().delete(paths[name]);
    },
    contentsSent: () => host.take(/\/git\/blobs\/|^archive/),
    faults: {
      fail(part, fault) {
        host.faults.add({
          ...fault,
          match: part === 'listing' ? listing : new RegExp(`/git/blobs/${host.shaOf(7, paths.prices)}`),
        });
      },
      recover: () => host.faults.clear(),
      arrivals: () =>
        host.requests
          .map((line, index) => ({ line, atMs: host.timesMs[index] ?? 0 }))
          .filter(({ line }) => !line.includes('access_tokens')),
      tokens: {
        expire: () => host.expireTokens(),
        revoke() {
          host.isInstalled = false;
          host.expireTokens();
        },
        renewals: () => host.tokensGiven,
        // As the page does that the host leads back to after the App was installed.
        async reconnect(who) {
          host.isInstalled = true;
          const owner = { orgId: who.orgId, ownerUserId: who.userId, provider: 'REPO_HOST' } as const;
          const account = { name: 'acme', installationId: host.installationId, secrets: {}, scopes: [], expiresAt: null };
          const { deps } = services().service;
          const caller = await deps.storage.people.apiKeys.findCallerById(who.keyId, Date.now());
          if (caller !== undefined) await storeAccount(deps, caller, owner, account);
        },
      },
      // Rights are those of a whole repository.
      hide() {
        host.faults.add({ match: /\/repos\/acme\/tools/, ...hidden });
        return 'third';
      },
      hideAll: () => host.faults.add({ match: /\/repos\/acme\//, ...hidden }),
      truncate: () =>
        host.faults.add({ match: listing, alter: withMembers((body) => ({ ...body, tree: undefined })), times: always }),
      endless: {
        input: { mode: 'all', repos: [] },
        // Pages are numbered: the host gives the first one for every number.
        begin() {
          const page = (body: Readonly<Record<string, unknown>>) => {
            const [one] = body.repositories as readonly object[];
            const repositories = Array.from({ length: 100 }, () => one ?? {});
            return { total_count: 1_000_000, repositories };
          };
          const first = circle([''], () => ({}));
          const alter: typeof first = (usual) => withMembers(page)(first(usual));
          host.faults.add({ match: /\/installation\/repositories/, alter, times: always });
        },
      },
      add({ name, text, declaredBytes }) {
        files().set(name, text);
        if (declaredBytes === undefined) return;
        const alter = withMembers((body) => ({
          ...body,
          tree: (body.tree as { path: string }[]).map((entry) =>
            entry.path === name ? { ...entry, size: declaredBytes } : entry,
          ),
        }));
        host.faults.add({ match: listing, alter, times: always });
      },
    },
  };
}
