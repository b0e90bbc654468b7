import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { runStatuses } from '../../../src/entities/conversations/runs/event.ts';
import { indexStatuses } from '../../../src/entities/knowledge/data-source.ts';
import { runStatuses as sourceRunStatuses } from '../../../src/entities/knowledge/source-run.ts';
import { deliveryStatuses } from '../../../src/entities/operations/webhook.ts';

const page = readFileSync('docs/states.md', 'utf8');

it.each([
  ['A run', runStatuses],
  ['A source', sourceRunStatuses],
  ['An item', indexStatuses],
  ['A delivery of a webhook', deliveryStatuses],
])('%s is drawn with the states that the code has, each of which can be reached', (heading, states) => {
  const drawing = page.split(`## ${heading}\n`)[1]?.split('```')[1] ?? '';
  const arrows = [...drawing.matchAll(/^ {2}(\S+) --> ([^\s:]+)/gm)].map(([, from = '', to = '']) => ({ from, to }));
  const drawn = new Set(arrows.flatMap(({ from, to }) => [from, to]).filter((name) => name !== '[*]'));
  expect([...drawn].sort()).toEqual([...states].sort());
  const targets = new Set(arrows.map(({ to }) => to));
  expect(states.filter((state) => !targets.has(state))).toEqual([]);
});
