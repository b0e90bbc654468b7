import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { addFile, indexed } from '../../../support/knowledge/knowledge.ts';
import { withService } from '../../../support/service.ts';

/**
 * Documents of `test/fixtures/documents`, each with the words that a search must find in it, and those that stand in no passage. Lines of `expected.txt`:
 * `find:` words in this order, `never:` words in no line, `line:` parts of one line, divided by ` | `, `hit:` a word that alone gives a passage.
 */
const folder = new URL('../../../fixtures/documents/', import.meta.url);
const cases = readdirSync(folder);
const { make } = await withService();

const ann = await make.person();
const agentId = (await make.agent({ owner: ann })).id;

it.each(cases)('%s is read as its readers see it', async (name) => {
  const files = new URL(`${name}/`, folder);
  const input = readdirSync(files).find((file) => file.startsWith('input.')) ?? '';
  const expected = readFileSync(new URL('expected.txt', files), 'utf8').matchAll(/^(find|never|line|hit): *(.+)$/gm);
  const rules = Array.from(expected, ([, kind = '', words = '']) => ({ kind, words: words.trim() }));
  expect(rules.length).toBeGreaterThan(0);
  const source = await indexed(
    ann,
    (await addFile(ann, agentId, input.replace('input', name), readFileSync(new URL(input, files)))).body.id,
  );
  expect([source.indexStatus, source.errorMessage]).toEqual(['INDEXED', null]);

  const search = async (query: string): Promise<string[]> => {
    const body = { agentId, dataSourceIds: [source.id], query, limit: 20, neighbours: true };
    const { data } = (await ann.post('/api/v1/search', body)).body;
    return data.map((hit: Record<string, string | null>) => [hit.previous ?? '', hit.text, hit.next ?? ''].join('\n'));
  };
  const passages = await Promise.all(rules.map(({ words }) => search(words.replaceAll(' | ', ' '))));
  const lines = passages.flat().flatMap((text) => text.split('\n').map(evenSpaces));
  const whole = evenSpaces(passages.flat().join(' ').replaceAll('\n', ' '));
  const failures: string[] = [];
  for (const [index, { kind, words }] of rules.entries()) {
    const parts = words.split(' | ');
    const isMet = {
      find: () => whole.includes(words),
      never: () => !lines.some((line) => line.includes(words)),
      line: () => lines.some((line) => parts.every((part) => line.includes(part))),
      hit: () => passages[index]?.length !== 0,
    }[kind];
    if (isMet?.() !== true) failures.push(`${kind}: ${words}`);
  }
  expect(failures, lines.join('\n')).toEqual([]);
});

function evenSpaces(text: string): string {
  return text.replace(/[ \t\u00a0]+/g, ' ').trim();
}
