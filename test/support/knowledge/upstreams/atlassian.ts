import type { AtlassianStandIn, Grant } from '../../../fixtures/upstreams/atlassian.ts';
import { paragraph } from '../../../fixtures/upstreams/atlassian-jira.ts';
import {
  always,
  arrivalsAt,
  circle,
  connection,
  type DocumentName,
  hours,
  prices,
  reconnect,
  taken,
  third,
  type UpstreamKind,
  type UpstreamTokens,
  withMembers,
} from './kind.ts';

/** The connection of one source, and its tokens. */
class Account {
  connectionId = '';
  readonly #cloud: AtlassianStandIn;
  readonly #provider: string;
  #grant: Grant;

  constructor(cloud: AtlassianStandIn, provider: string) {
    this.#cloud = cloud;
    this.#provider = provider;
    this.#grant = cloud.grant();
  }

  async connect(who: Parameters<typeof connection>[0]): Promise<string> {
    this.#grant = this.#cloud.grant();
    this.connectionId = await connection(who, this.#provider, this.#grant);
    return this.connectionId;
  }

  readonly tokens: UpstreamTokens = {
    expire: () => this.#cloud.expire(this.#grant),
    revoke: () => {
      this.#grant.isDead = true;
    },
    renewals: () => this.#cloud.refreshes(),
    // It always does, and ends the grant when an old one comes back.
    rotate: () => undefined,
    reconnect: async (who) => {
      this.#grant = this.#cloud.grant();
      await reconnect(who, this.connectionId, this.#grant);
    },
  };
}

export function wikiPage(cloud: AtlassianStandIn): UpstreamKind {
  const pages = { hours: '', prices: '', third: '' };
  let spaceId = '';
  const account = new Account(cloud, 'WIKI');
  const listing = () => new RegExp(`/spaces/${spaceId}/pages`);
  return {
    ...{ name: 'wiki page', path: 'wiki', choice: 'wiki' },
    citedUrl: /^https:\/\/acme\.atlassian\.net\/wiki\/spaces\/\w+\/pages\/\d+\/Prices$/,
    async prepare(who) {
      cloud.recover();
      spaceId = cloud.wiki.space('Workshop').id;
      pages.hours = cloud.wiki.page(spaceId, 'Hours', `<p>${hours}</p>`).id;
      pages.prices = cloud.wiki.page(spaceId, 'Prices', `<p>${prices('fifteen')}</p>`).id;
      pages.third = cloud.wiki.page(spaceId, 'Tools', `<p>${third}</p>`).id;
      return { oauthTokenId: await account.connect(who), pageName: 'Workshop', spaceId };
    },
    change: () => cloud.wiki.edit(pages.prices, `<p>${prices('twenty')}</p>`),
    remove: (name = 'hours') => void cloud.wiki.pages.delete(pages[name]),
    contentsSent: () => taken(cloud, ({ query }) => query.has('body-format')),
    faults: {
      fail(part, fault) {
        cloud.fail({ ...fault, match: part === 'listing' ? listing() : new RegExp(`/pages/${pages.prices}\\?body-format`) });
      },
      recover: () => cloud.recover(),
      arrivals: () => arrivalsAt(cloud),
      tokens: account.tokens,
      hide() {
        const page = cloud.wiki.pages.get(pages.prices);
        if (page !== undefined) page.isHidden = true;
        return 'prices';
      },
      hideAll() {
        const body = { errors: [{ status: 404, code: 'NOT_FOUND', title: 'Not Found', detail: null }] };
        cloud.fail({ match: new RegExp(`/spaces/${spaceId}`), status: 404, body, times: always });
      },
      truncate() {
        cloud.fail({ match: listing(), alter: withMembers((body) => ({ ...body, results: undefined })), times: always });
      },
      endless: {
        begin(cursors) {
          const next = (cursor: string) => ({ _links: { next: `/wiki/api/v2/spaces/${spaceId}/pages?cursor=${cursor}` } });
          cloud.fail({ match: listing(), alter: circle(cursors, next), times: always });
        },
      },
      add: ({ name, text }) => void cloud.wiki.page(spaceId, name, `<p>${text}</p>`),
    },
  };
}

export function trackerIssue(cloud: AtlassianStandIn): UpstreamKind {
  let round = 0;
  let issues: Readonly<Record<DocumentName, ReturnType<AtlassianStandIn['jira']['issue']>>> | undefined;
  const account = new Account(cloud, 'TRACKER');
  const key = () => `K${round}`;
  const listing = /\/search\/jql/;
  const issueOf = (name: DocumentName) => {
    if (issues === undefined) throw new Error('prepare first');
    return issues[name];
  };
  const add = (summary: string, text: string) => cloud.jira.issue(key(), summary, { description: paragraph(text) }, 9);
  return {
    ...{ name: 'tracker issue', path: 'tracker', choice: 'tracker' },
    citedUrl: /^https:\/\/acme\.atlassian\.net\/browse\/K\d+-2$/,
    async prepare(who) {
      cloud.recover();
      round += 1;
      cloud.jira.project(key(), `Project ${round}`);
      issues = { hours: add('Hours', hours), prices: add('Prices', prices('fifteen')), third: add('Tools', third) };
      return { oauthTokenId: await account.connect(who), projectName: 'Help desk', projectKey: key() };
    },
    change() {
      const found = issueOf('prices');
      found.fields = { ...found.fields, description: paragraph(prices('twenty')) };
      found.updated = new Date();
    },
    remove: (name = 'hours') => void cloud.jira.issues.delete(issueOf(name).id),
    contentsSent: () => taken(cloud, ({ path }) => /\/issue\/\d+$/.test(path)),
    faults: {
      fail(part, fault) {
        cloud.fail({ ...fault, match: part === 'listing' ? listing : new RegExp(`/issue/${issueOf('prices').id}\\?`) });
      },
      recover: () => cloud.recover(),
      arrivals: () => arrivalsAt(cloud),
      tokens: account.tokens,
      // Jira shows a hidden issue as one that was deleted.
      hide() {
        cloud.jira.issues.delete(issueOf('prices').id);
        return 'prices';
      },
      hideAll() {
        const body = { errorMessages: [`The value '${key()}' does not exist for the field 'project'.`], warningMessages: [] };
        cloud.fail({ match: listing, status: 400, body, times: always });
      },
      truncate() {
        cloud.fail({ match: listing, alter: withMembers((body) => ({ ...body, issues: undefined })), times: always });
      },
      endless: {
        begin(cursors) {
          const alter = circle(cursors, (nextPageToken) => ({ nextPageToken, isLast: false }));
          cloud.fail({ match: listing, alter, times: always });
        },
      },
      add: ({ name, text }) => void add(name, text),
    },
  };
}
