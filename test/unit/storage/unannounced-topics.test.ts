import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { announcedTopics } from '../../../src/storage/ground/signals/topics.ts';

const root = join(import.meta.dirname, '../../../src/storage');
const files = globSync('**/*.ts', { cwd: root })
  .filter((file) => !file.startsWith('ground/signals/'))
  .map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }))
  .map((each) => ({ ...each, topics: unannounced(each.text) }))
  .filter(({ topics }) => topics.length > 0);

/** Topics that a file subscribes to, of which nothing is repeated when a signal is lost. */
function unannounced(text: string): readonly string[] {
  // With 'announced', the listener needs only what a trigger announces.
  const subscribed = [...text.matchAll(/subscribe\('([\w-]+)',[^;]*;/g)].filter(([call]) => !call.includes("'announced'"));
  const listed = [...text.matchAll(/of \[([^\]]*-changed'[^\]]*)\] as const/g)].flatMap(([, list = '']) => [
    ...list.matchAll(/'([\w-]+)'/g),
  ]);
  return [...subscribed, ...listed]
    .map(([, topic = '']) => topic)
    .filter((topic) => ![...announcedTopics].some((each) => each === topic));
}

describe('what the storage keeps until a signal that no trigger repeats', () => {
  it('is there', () => {
    expect(files.map(({ file }) => file)).toContain('knowledge/permissions/gates.ts');
  });

  it.each(files)('$file forgets it when signals may have been lost', ({ text }) => {
    expect(text).toMatch(/\.onGap\(/);
  });
});
