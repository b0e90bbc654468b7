import { expect, it } from 'vitest';
import { fillVariables, findVariables } from '../../../src/lib/text/prompt-variables.ts';

it.each([
  ['{{name}}', [{ name: 'name', default: null, choices: [] }]],
  ['{{ first name = Ann }}', [{ name: 'first name', default: 'Ann', choices: [] }]],
  ['{{a: one | two}}', [{ name: 'a', default: null, choices: ['one', 'two'] }]],
  ['{{a: one | | one =two}}', [{ name: 'a', default: 'two', choices: ['one'] }]],
  ['{{url=https://x.org?a=b}}', [{ name: 'url', default: 'https://x.org?a=b', choices: [] }]],
  ['{{a}} {{a=1}} {{a=2}}', [{ name: 'a', default: '1', choices: [] }]],
  ['{{größe}}', [{ name: 'größe', default: null, choices: [] }]],
  ['{{{a}}}', [{ name: 'a', default: null, choices: [] }]],
  ['{{#each}} {{/x}} {{}} {{a', []],
])('%s has these variables', (text, variables) => {
  expect(findVariables(text)).toEqual(variables);
});

it('fills every place of a variable, and no value twice', () => {
  const values = new Map([
    ['a', '{{b}}'],
    ['b', '2'],
  ]);
  expect(fillVariables('{{a}}-{{b=1}}-{{c}}-{{a}}', values)).toBe('{{b}}-2-{{c}}-{{b}}');
});

it('reads a text of nothing but braces in time that is linear in its length', () => {
  const begunMs = performance.now();
  findVariables('{{'.repeat(10_000));
  expect(performance.now() - begunMs).toBeLessThan(2_000);
});
