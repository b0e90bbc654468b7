import { parseArgs } from 'node:util';
import { benchAgentKnowledge } from './agent-knowledge.ts';
import { benchAgentList } from './agent-list/agent-list.ts';
import { benchCompletions, type Row } from './completions/completions.ts';
import { benchGuards } from './completions/guards.ts';
import { benchOverload } from './completions/overload.ts';
import { benchIndexing } from './indexing/indexing.ts';
import { benchLists } from './lists.ts';
import { benchReferencePage } from './reference-page.ts';
import { benchStalledReaders } from './stalled-readers.ts';
import { benchStoredStream } from './stored-stream.ts';

/**
 * `npm run bench [-- --only <part of a row's name>] [--streams 2000] [--profile <folder>]`: measures the service against a bare node:http
 * pass-through of the same upstream, both on one core, in turns in the same run. Exits with status 1 when a floor is not met.
 */
const { values } = parseArgs({
  options: { only: { type: 'string', default: '' }, streams: { type: 'string', default: '2000' }, profile: { type: 'string' } },
});
const rows: Row[] = [
  ...(await benchCompletions({
    only: values.only,
    streams: Number(values.streams),
    ...(values.profile === undefined ? {} : { profileDir: values.profile }),
  })),
];
if ('overload'.includes(values.only)) rows.push(...(await benchOverload()));
if ('indexing text'.includes(values.only)) rows.push(...(await benchIndexing()));
if ('list of 100,000 chats'.includes(values.only)) rows.push(...(await benchLists()));
if ('completion, agent over 100,000 passages'.includes(values.only)) rows.push(...(await benchAgentKnowledge()));
if (['GraphQL: 50 agents', 'GraphQL: tiny query'].some((name) => name.includes(values.only)))
  rows.push(...(await benchAgentList()));
if ('stalled readers'.includes(values.only)) rows.push(...(await benchStalledReaders()));
if ('stored stream'.includes(values.only)) rows.push(...(await benchStoredStream()));
if ('guard'.includes(values.only)) rows.push(...(await benchGuards()));
if ('reference page'.includes(values.only)) rows.push(...(await benchReferencePage()));
let isMet = true;
console.log(['', 'raw', 'parley', 'ratio', 'floor'].join('\t'));
for (const row of rows) {
  const ratio = row.ours / row.raw;
  const floor = floorOf(row);
  if (floor.isBroken(ratio)) isMet = false;
  const verdict = floor.isBroken(ratio) ? 'NOT MET' : '';
  console.log(
    [row.name, figure(row.raw, row.unit), figure(row.ours, row.unit), ratio.toFixed(2), floor.text, verdict, row.note ?? ''].join(
      '\t',
    ),
  );
}
process.exit(isMet ? 0 : 1);

function floorOf({ floor }: Row): { readonly text: string; isBroken(ratio: number): boolean } {
  if (floor === undefined) return { text: '–', isBroken: () => false };
  if ('ratioMin' in floor) return { text: `≥ ${floor.ratioMin}`, isBroken: (ratio) => ratio < floor.ratioMin };
  return { text: `≤ ${floor.ratioMax}`, isBroken: (ratio) => ratio > floor.ratioMax };
}

function figure(value: number, unit: string): string {
  return `${value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(1)} ${unit}`;
}
