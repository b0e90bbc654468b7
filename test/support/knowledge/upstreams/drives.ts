import type { GoogleDrive } from '../../../fixtures/upstreams/google-drive.ts';
import type { GraphItem, MicrosoftGraph } from '../../../fixtures/upstreams/microsoft-graph.ts';
import type { StandInTokens } from '../../../fixtures/upstreams/stand-in.ts';
import {
  always,
  arrivalsAt,
  circle,
  connection,
  hours,
  prices,
  reconnect,
  taken,
  third,
  type UpstreamKind,
  type UpstreamTokens,
  withMembers,
} from './kind.ts';

function tokensOf(tokens: StandInTokens, connectionId: () => string): UpstreamTokens {
  return {
    expire: () => tokens.expire(),
    revoke: () => tokens.revoke(),
    renewals: () => tokens.renewals,
    rotate() {
      tokens.rotates = true;
    },
    reconnect: (who) => reconnect(who, connectionId(), tokens),
  };
}

export function driveA(google: GoogleDrive): UpstreamKind {
  let round = 0;
  let connectionId = '';
  const id = (name: string) => `${name}-${round}`;
  const listing = /\/files\?q=|\/changes\?/;
  const content = () => new RegExp(`/files/${id('prices')}\\?alt=media`);
  const add = (name: string, text: string) => google.add({ id: id(name), name: `${name}.md`, parents: [id('shop')], text });
  const recover = () => google.server.recover();
  return {
    ...{ name: 'drive A file', path: 'drive-a', choice: 'driveA' },
    citedUrl: /^https:\/\/drive\.google\.com\/file\/d\/prices-\d+\/view$/,
    async prepare(who) {
      recover();
      google.tokens.rotates = false;
      round += 1;
      google.folder(id('shop'));
      add('hours', hours);
      add('prices', prices('fifteen'));
      add('third', third);
      connectionId = await connection(who, 'DRIVE_A', google.tokens);
      return { oauthTokenId: connectionId, files: [{ id: id('shop'), name: 'Shop' }] };
    },
    change: () => google.change(id('prices'), { text: prices('twenty') }),
    remove: (name = 'hours') => google.remove(id(name)),
    contentsSent: () => taken(google.server, ({ query }) => query.get('alt') === 'media'),
    faults: {
      fail: (part, fault) => google.server.fail({ ...fault, match: part === 'listing' ? listing : content() }),
      recover,
      arrivals: () => arrivalsAt(google.server),
      tokens: tokensOf(google.tokens, () => connectionId),
      hide() {
        const body = { error: { code: 403, errors: [{ domain: 'global', reason: 'insufficientFilePermissions' }] } };
        google.server.fail({ match: content(), status: 403, body, times: always });
        return 'prices';
      },
      hideAll() {
        const body = { error: { code: 404, errors: [{ domain: 'global', reason: 'notFound' }] } };
        google.server.fail({ match: new RegExp(`/files/${id('shop')}|shop`), status: 404, body, times: always });
      },
      truncate() {
        const alter = withMembers((body) => ({ ...body, incompleteSearch: true, files: (body.files as object[]).slice(1) }));
        google.server.fail({ match: /\/files\?q=/, alter, times: always });
      },
      endless: {
        begin(cursors) {
          const alter = circle(cursors, (nextPageToken) => ({ nextPageToken }));
          google.server.fail({ match: /\/files\?q=/, alter, times: always });
        },
      },
      add({ name, text, declaredBytes }) {
        const size = declaredBytes === undefined ? {} : { size: String(declaredBytes) };
        google.add({ id: id('fourth'), name, parents: [id('shop')], text, ...size });
      },
    },
  };
}

export function driveB(graph: MicrosoftGraph): UpstreamKind {
  let round = 0;
  let connectionId = '';
  const id = (name: string) => `${name}-${round}`;
  const listing = /\/root\/delta|\/children/;
  const add = (name: string, text: string, more: Partial<Pick<GraphItem, 'name' | 'size'>> = {}) =>
    graph.add({ id: id(name), name: `${name}.md`, driveId: id('library'), parentId: id('shop'), text, ...more });
  const recover = () => {
    graph.server.recover();
    graph.storage.recover();
  };
  return {
    ...{ name: 'drive B file', path: 'drive-b', choice: 'driveB' },
    citedUrl: /\/prices-\d+$/,
    async prepare(who) {
      recover();
      round += 1;
      const driveId = id('library');
      graph.drive(driveId, 'Library');
      graph.add({ id: id('shop'), driveId });
      add('hours', hours);
      add('prices', prices('fifteen'));
      add('third', third);
      connectionId = await connection(who, 'DRIVE_B', graph.tokens);
      return { oauthTokenId: connectionId, fileId: id('shop'), filename: 'Shop', driveId };
    },
    change: () => graph.change(id('prices'), { text: prices('twenty') }),
    remove: (name = 'hours') => graph.remove(id(name)),
    contentsSent: () => taken(graph.storage, () => true),
    faults: {
      fail(part, fault) {
        if (part === 'listing') graph.server.fail({ ...fault, match: listing });
        // The content lies elsewhere: what goes wrong with a body goes wrong there.
        else if (fault.ends !== undefined) graph.storage.fail({ ...fault, match: new RegExp(`/files/${id('prices')}`) });
        else graph.server.fail({ ...fault, match: new RegExp(`/items/${id('prices')}/content`) });
      },
      recover,
      arrivals: () => arrivalsAt(graph.server, graph.storage),
      tokens: tokensOf(graph.tokens, () => connectionId),
      hide() {
        const body = { error: { code: 'accessDenied', message: 'Access denied' } };
        graph.server.fail({ match: new RegExp(`/items/${id('prices')}/content`), status: 403, body, times: always });
        return 'prices';
      },
      hideAll() {
        const body = { error: { code: 'accessDenied', message: 'Access denied' } };
        graph.server.fail({ match: new RegExp(id('shop')), status: 403, body, times: always });
      },
      truncate() {
        graph.server.fail({ match: listing, alter: withMembers((body) => ({ ...body, value: undefined })), times: always });
      },
      endless: {
        begin(cursors) {
          const base = `${graph.url}/drives/${id('library')}/items/${id('shop')}/children?$top=100&$skiptoken=`;
          const alter = circle(cursors, (cursor) => ({ '@odata.nextLink': base + cursor }));
          graph.server.fail({ match: /\/children/, alter, times: always });
        },
      },
      add: ({ name, text, declaredBytes: size }) => void add('fourth', text, { name, ...(size === undefined ? {} : { size }) }),
    },
  };
}
