import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { breakingChanges, untold } from './support/schema-changes.ts';

/** Compares schema.graphql with that of the newest release: every breaking change must stand in docs/graphql.md or CHANGELOG.md. */
const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
const [tag = ''] = git('tag', '--list', 'v*', '--sort=-version:refname').split('\n');

if (tag === '') {
  console.log('There is no tag of a release (v*) in this clone: the schema is compared with none.');
} else {
  const changes = await breakingChanges(git('show', `${tag}:schema.graphql`), readFileSync('schema.graphql', 'utf8'));
  const missing = untold(changes, [readFileSync('docs/graphql.md', 'utf8'), readFileSync('CHANGELOG.md', 'utf8')]);
  console.log(`${changes.length} breaking changes since ${tag}, ${missing.length} of them told nowhere`);
  for (const { coordinate, message } of missing) console.log(`  ${coordinate}: ${message}`);
  if (missing.length > 0) {
    console.log('Name each, or its type, in backticks: old and new in the table of docs/graphql.md, or in CHANGELOG.md.');
    process.exitCode = 1;
  }
}
