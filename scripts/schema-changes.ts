import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { breakingChanges, hastyRemovals, undatedDeprecations, untold } from './support/schema-changes.ts';

/**
 * Compares schema.graphql with that of the newest release: every breaking change must stand in docs/graphql.md or CHANGELOG.md. What is deprecated says from
 * which date on it may go; since 1.0.0 nothing goes that the last release did not deprecate so, and not before that date.
 */
const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
const [tag = ''] = git('tag', '--list', 'v*', '--sort=-version:refname').split('\n');

const schema = readFileSync('schema.graphql', 'utf8');
const undated = undatedDeprecations(schema);
if (undated.length > 0) {
  console.log(`Say in the reason of @deprecated from which date on it may go (2027-03-01): ${undated.join(', ')}`);
  process.exitCode = 1;
}

if (tag === '') {
  console.log('There is no tag of a release (v*) in this clone: the schema is compared with none.');
} else {
  const before = git('show', `${tag}:schema.graphql`);
  const changes = await breakingChanges(before, schema);
  const hasty = tag.startsWith('v0.') ? [] : hastyRemovals(before, changes, new Date().toISOString().slice(0, 10));
  for (const { coordinate } of hasty)
    console.log(`  ${coordinate} is gone, and ${tag} did not deprecate it with a date that has passed`);
  if (hasty.length > 0) process.exitCode = 1;
  const missing = untold(changes, [readFileSync('docs/graphql.md', 'utf8'), readFileSync('CHANGELOG.md', 'utf8')]);
  console.log(`${changes.length} breaking changes since ${tag}, ${missing.length} of them told nowhere`);
  for (const { coordinate, message } of missing) console.log(`  ${coordinate}: ${message}`);
  if (missing.length > 0) {
    console.log('Name each, or its type, in backticks: old and new in the table of docs/graphql.md, or in CHANGELOG.md.');
    process.exitCode = 1;
  }
}
