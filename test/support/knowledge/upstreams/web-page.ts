import { html, type Site } from '../../../fixtures/upstreams/site.ts';
import { always, hours, prices, third, type UpstreamKind } from './kind.ts';

export function webPage(site: Site): UpstreamKind {
  const start = (links: readonly string[]) => site.set('/', html('Start', third, links));
  const allow = () => {
    site.recover();
  };
  return {
    ...{ name: 'web page', path: 'web-url', choice: 'webUrl' },
    citedUrl: /^http:\/\/127\.0\.0\.1:\d+\/prices$/,
    async prepare() {
      site.reset();
      start(['/hours', '/prices']);
      site.set('/hours', html('Hours', hours));
      site.set('/prices', html('Prices', prices('fifteen')));
      return { url: `${site.url}/`, dataRefreshPeriod: 'NEVER', includeFiles: false, includedFileTypes: [] };
    },
    change: () => site.set('/prices', html('Prices', prices('twenty'))),
    remove: (name = 'hours') => site.delete(`/${name}`),
    contentsSent() {
      const sent = site.requests.filter(
        ({ path, status }) => status === 200 && path !== '/robots.txt' && !path.includes('sitemap'),
      );
      site.requests.length = 0;
      return sent.length;
    },
    faults: {
      fail(part, { ends, alter: _alter, cutAtByte: _cut, body, ...fault }) {
        const text = typeof body === 'object' && !Buffer.isBuffer(body) ? JSON.stringify(body) : body;
        const match = part === 'listing' ? /^\/$/ : /^\/prices$/;
        site.fault({
          ...fault,
          ...(text === undefined ? {} : { body: text }),
          ...(ends === undefined ? {} : { pace: ends }),
          match,
        });
      },
      recover: allow,
      arrivals: () => site.requests.map(({ method, path, atMs }) => ({ line: `${method} ${path}`, atMs })),
      hide() {
        site.fault({ match: /^\/prices$/, status: 403, body: 'Members only', times: always });
        return 'prices';
      },
      hideAll: () => site.fault({ match: /./, status: 403, body: 'Members only', times: always }),
      // The page with the links ends before them, whenever it is asked for.
      truncate: () => site.fault({ match: /^\/$/, pace: 'cut', times: always }),
      endless: {
        input: { maxPages: 10 },
        begin() {
          start(['/hours', '/prices', '/more/1']);
          site.setBelow('/more/', (path) => {
            const number = Number(path.split('/').at(-1));
            return { body: html(`Part ${number}`, `This is part ${number} of a story.`, [`/more/${number + 1}`]) };
          });
        },
      },
      add({ name, text, declaredBytes }) {
        start(['/hours', '/prices', '/fourth']);
        const isLie = declaredBytes === undefined || declaredBytes < text.length;
        // A body that is longer than its length cannot be sent: without a length it may be of any.
        const headers = isLie ? {} : { headers: { 'content-type': 'text/html', 'content-length': String(declaredBytes) } };
        site.set('/fourth', { ...headers, body: html(escaped(name), text) });
      },
    },
  };
}

function escaped(text: string): string {
  return text.replace(/[<&]/g, (each) => `&#${each.charCodeAt(0)};`);
}
