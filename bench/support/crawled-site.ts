import { setTimeout as sleep } from 'node:timers/promises';
import { addTraps, html, startSite } from '../../test/fixtures/upstreams/site.ts';

/** A process of its own, so that only the crawler's memory is measured: a site of `process.argv[2]` pages of 10 kB, with traps. */
const count = Number(process.argv[2] ?? 2_000);
const words = 'the bicycle shop repairs wheels brakes chains and lights for everybody who rides through rain and snow '.split(
  ' ',
);
const site = await startSite();
site.setBelow('/page-', (path) => {
  const index = Number(path.slice('/page-'.length));
  if (!(index < count)) return { status: 404, body: 'not here' };
  const text = Array.from({ length: 1_500 }, (_, place) => words[(place * (index + 7) + index) % words.length]).join(' ');
  const links = Array.from({ length: 20 }, (_, link) => `/page-${(index * 20 + link + 1) % count}`);
  return { body: html(`Page ${index}`, `Number ${index}. ${text}`, [...links, '/traps/']), gate: sleep(3) };
});
addTraps(site);
site.set('/', html('Start', 'Here it begins.', ['/page-0']));
process.send?.({ url: site.url });
process.on('message', () => process.send?.({ mostAtOnce: site.mostAtOnce, requests: site.requests.length }));
