import { readFileSync } from 'node:fs';
import { judge } from './judge.ts';
import { createParley } from './parley.ts';
import type { Person } from './world.ts';

/** Judges a server that runs: `npm run leak-test -- people.json`. See README.md beside this file. */
interface PeopleFile {
  readonly url: string;
  readonly agentId: string;
  readonly ownerKey: string;
  readonly people: readonly (Person & { readonly key: string })[];
}

const linesMax = 100;
const [path] = process.argv.slice(2);
if (path === undefined)
  throw new Error('name the file with the people: npm run leak-test -- people.json (bench/leak-test/README.md)');
const { url, agentId, ownerKey, people } = JSON.parse(readFileSync(path, 'utf8')) as PeopleFile;
const keys = new Map(people.map(({ name, key }) => [name, key]));
const place = { url, agentId, ownerKey, keyOf: ({ name }: Person) => keys.get(name) ?? '' };
const seed = Number(process.env.LEAK_TEST_SEED ?? Date.now() % 1_000_000);
const stepCount = Number(process.env.LEAK_TEST_STEPS ?? 12);

const verdict = await judge(await createParley(place), people, { seed, stepCount });
const ungated = await judge(await createParley(place, 'LENT'), people, { seed, stepCount: 0 });
const faults = [...verdict.leaks.map((leak) => `LEAK ${leak}`), ...verdict.missing.map((one) => `missing ${one}`)];
for (const line of faults.slice(0, linesMax)) console.log(line);
if (faults.length > linesMax) console.log(`… and ${faults.length - linesMax} more`);
console.log(`seed ${seed}: ${verdict.caseCount} cases, ${verdict.leaks.length} leaks, ${verdict.missing.length} missing`);
console.log(`the same without permissions: ${ungated.leaks.length} leaks of ${ungated.caseCount} cases`);
for (const [way, count] of verdict.shownCounts) console.log(`${way}: ${count} documents shown`);
if (ungated.leaks.length === 0) console.log('The judge saw no leak where everything is open: it sees nothing.');
process.exitCode = verdict.leaks.length + verdict.missing.length === 0 && ungated.leaks.length > 0 ? 0 : 1;
