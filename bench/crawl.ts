import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { crawler } from '../test/support/knowledge/crawls.ts';

/**
 * `node --expose-gc bench/crawl.ts [pages]`: crawls a local site with traps, and prints pages, speed, memory and the most requests at one time.
 * Exits with status 1 when memory grows by 300 MB or more, more than two requests meet, or a page is missing.
 */
const count = Number(process.argv[2] ?? 2_000);
const memoryMaxMB = 300;
const site = fork(fileURLToPath(new URL('./support/crawled-site.ts', import.meta.url)), [String(count)]);
const [{ url }] = (await once(site, 'message')) as [{ url: string }];
const { connector } = crawler();
const residentMB = () => process.memoryUsage.rss() / 1024 / 1024;

globalThis.gc?.();
const before = residentMB();
let peak = before;
const watch = setInterval(() => {
  peak = Math.max(peak, residentMB());
}, 20);
const startedAt = performance.now();
const source = { id: 'ds_1', ownerUserId: 'user_1', orgId: 'org_1', tenantId: 'ten_1', type: 'WEB_URL' } as const;
const listing = connector.list({
  source: { ...source, data: { url, maxPages: Math.min(10_000, 2 * count + 500) } },
  isForced: false,
  state: undefined,
  place: undefined,
  signal: new AbortController().signal,
  known: async () => new Map(),
  progress: () => undefined,
});
const pages = new Set<string>();
let trapped = 0;
let parts = 0;
let placeBytes = 0;
let end: unknown;
for (let part = await listing.next(); ; part = await listing.next()) {
  if (part.done === true) {
    end = { ...part.value, state: undefined };
    break;
  }
  parts += 1;
  placeBytes = Math.max(placeBytes, JSON.stringify(part.value.place).length);
  for (const { uniqueId } of part.value.items) {
    if (uniqueId.includes('/traps/')) trapped += 1;
    else pages.add(uniqueId);
  }
}
clearInterval(watch);
const seconds = (performance.now() - startedAt) / 1_000;
site.send('figures');
const [{ mostAtOnce, requests }] = (await once(site, 'message')) as [{ mostAtOnce: number; requests: number }];
site.disconnect();
site.kill();
const figures: Readonly<Record<string, string | number>> = {
  'pages of the site': `${pages.size} of ${count + 1}`,
  'pages of traps': trapped,
  requests,
  'seconds, pages a second': `${seconds.toFixed(1)}, ${((pages.size + trapped) / seconds).toFixed(0)}`,
  'memory before, peak, growth (MB)': `${before.toFixed(0)}, ${peak.toFixed(0)}, ${(peak - before).toFixed(0)}`,
  'most requests at one time': mostAtOnce,
  'parts, largest place (kB)': `${parts}, ${(placeBytes / 1_000).toFixed(0)}`,
  end: JSON.stringify(end),
};
for (const [name, value] of Object.entries(figures)) console.log(`${name}\t${value}`);
const isMet = pages.size === count + 1 && peak - before < memoryMaxMB && mostAtOnce <= 2;
if (!isMet) console.log('NOT MET');
process.exit(isMet ? 0 : 1);
