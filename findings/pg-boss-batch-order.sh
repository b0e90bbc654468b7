#!/usr/bin/env bash
# pg-boss 12.38.0 chooses the jobs of a batch by priority and age, and then gives them in any order, though its types say that jobs are always fetched
# in order of priority and of creation. `fetch` with a `batchSize`, and so `work`, which hands the same list to its handler, gave eight jobs of
# one priority as 1, 6, 3, 4, 5, 7, 8, 2, otherwise at each run; only which jobs they are is right. One by one they come in order. So a handler that
# goes through its batch may run a later change before an earlier one: sort the jobs, by `priority` and `createdOn` with `includeMetadata`, or
# fetch one at a time.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund pg-boss@12.38.0 @electric-sql/pglite@0.5.14 >/dev/null
cat >probe.mjs <<'JS'
import { PGlite } from '@electric-sql/pglite';
import { PgBoss } from 'pg-boss';

const pglite = await PGlite.create();
const executeSql = async (text, values) =>
  values?.length ? pglite.query(text, values) : { rows: (await pglite.exec(text)).flatMap(({ rows }) => rows) };
const boss = new PgBoss({ db: { executeSql }, supervise: false, schedule: false });
await boss.start();

/** Sends twelve jobs, and takes the eight that come first. */
async function take(queue, priorities, batchSize) {
  await boss.createQueue(queue);
  for (const [index, priority] of priorities.entries()) await boss.send(queue, { place: index + 1 }, { priority });
  const places = [];
  while (places.length < 8) places.push(...(await boss.fetch(queue, { batchSize })).map(({ data }) => data.place));
  return places;
}
const equal = Array.from({ length: 12 }, () => 0);
const rising = equal.map((_, index) => index);
const firstOfEqual = [1, 2, 3, 4, 5, 6, 7, 8];
const firstOfRising = [12, 11, 10, 9, 8, 7, 6, 5];
const seen = [];
for (const [name, priorities, expected] of [['equal', equal, firstOfEqual], ['rising', rising, firstOfRising]]) {
  const [one, eight] = [await take(`${name}-1`, priorities, 1), await take(`${name}-8`, priorities, 8)];
  console.log(`${name} priorities, one by one: ${one.join(' ')}; as a batch: ${eight.join(' ')}`);
  const isChoiceRight = [...eight].sort((a, b) => a - b).join() === [...expected].sort((a, b) => a - b).join();
  seen.push(one.join() === expected.join(), isChoiceRight, eight.join() === expected.join());
}
// Eight jobs in any order come in the right one once in 40,320 runs.
if (seen.join() !== 'true,true,false,true,true,false') {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
process.exit(0);
JS
for name in pg-boss @electric-sql/pglite; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen, with another order of the batches at each run:
#   equal priorities, one by one: 1 2 3 4 5 6 7 8; as a batch: 1 6 3 4 5 7 8 2
#   rising priorities, one by one: 12 11 10 9 8 7 6 5; as a batch: 5 8 10 7 12 11 9 6
