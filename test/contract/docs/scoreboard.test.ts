import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { printPage, type Results } from '../../../scripts/scoreboard/page.ts';
import { sections } from '../../../scripts/scoreboard/sections.ts';

const read = (name: string) => readFileSync(new URL(`../../../docs/${name}`, import.meta.url), 'utf8');

it('docs/scoreboard.md is what runs left, and nothing else (rewrite with: npm run scoreboard)', () => {
  const results: Results = JSON.parse(read('scoreboard.json'));
  expect(read('scoreboard.md')).toBe(printPage(sections, results));
  expect(sections.map(({ name }) => name)).toEqual(expect.arrayContaining(Object.keys(results)));
});
