import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const sources = join(import.meta.dirname, '../../../console/src');
const files = readdirSync(sources, { recursive: true, encoding: 'utf8' }).map((name) => join(sources, name));

/** What the console says: the first argument of each `t('…')`, and the labels of places. */
function messages(): Map<string, string> {
  const found = new Map<string, string>();
  const say = (text: string, file: string) => found.set(text.replaceAll("\\'", "'"), file.slice(sources.length + 1));
  for (const file of files.filter((name) => /\.tsx?$/.test(name) && !name.endsWith('documents.ts'))) {
    const text = readFileSync(file, 'utf8');
    for (const [, single, double] of text.matchAll(/\bt\(\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")/g))
      say(single ?? double ?? '', file);
    // The second column of the sentences of the service.
    if (file.endsWith('faults/sentences.ts'))
      for (const [, label = ''] of text.matchAll(/'[^']*':\s+'([^']*)'/g)) say(label, file);
    if (file.endsWith('places.ts')) for (const [, label = ''] of text.matchAll(/label: '([^']*)'/g)) say(label, file);
  }
  return found;
}

const catalogs = files
  .filter((name) => name.endsWith('de.json'))
  .map((file) => JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>);
const german = Object.assign({}, ...catalogs) as Record<string, string>;

/** `{count}` and the like, which a translation must keep. */
const placeholders = (text: string) =>
  [...text.matchAll(/\{(\w+)/g)]
    .map(([, name]) => name)
    .filter((name) => name !== 'one' && name !== 'other')
    .sort();

describe('the texts of the console', () => {
  it('have words for every queue of jobs', () => {
    const names = (file: string) =>
      readFileSync(join(import.meta.dirname, '../../..', file), 'utf8').matchAll(/^ {2}'([\w-]+\.[\w-]+)':/gm);
    const queues = [...names('src/engine/jobs/job.ts')].map(([, name]) => name);
    expect(queues.length).toBeGreaterThan(10);
    expect([...names('console/src/screens/installation/Jobs.tsx')].map(([, name]) => name).sort()).toEqual(queues.sort());
  });
  it('are all there in German', () => {
    expect([...messages()].filter(([message]) => german[message] === undefined)).toEqual([]);
  });
  // Whichever catalog is loaded last would win.
  it('have one translation each: a second meaning needs other words in English too', () => {
    const translations = Map.groupBy(catalogs.flatMap(Object.entries<string>), ([message]) => message);
    const several = [...translations]
      .map(([message, entries]) => [message, [...new Set(entries.map(([, text]) => text))]] as const)
      .filter(([, texts]) => texts.length > 1);
    expect(several).toEqual([]);
  });
  it('keep their placeholders', () => {
    const changed = Object.entries(german).filter(
      ([message, text]) => new Set(placeholders(message)).symmetricDifference(new Set(placeholders(text))).size > 0,
    );
    expect(changed).toEqual([]);
  });
  it('are called by literals, so that none is missed', () => {
    const indirect = files
      .filter((name) => /\.tsx?$/.test(name) && !name.endsWith('text.ts'))
      .flatMap((file) =>
        [...readFileSync(file, 'utf8').matchAll(/\bt\((?!\s*['"])[^)]*\)/g)].map(
          ([call]) => `${file.slice(sources.length + 1)}: ${call}`,
        ),
      );
    // Labels of tables of this kind are read above or stand in a map of literals beside the table.
    expect(indirect.filter((line) => !/t\((?:place\.label|sentence|[\w.]*\[[^\]]+\]|message: string)/.test(line))).toEqual([]);
  });
});
