#!/usr/bin/env bash
# A Set or a Map that lives long keeps alive, until the next full collection, what was deleted from it. V8 makes a new table with every few dozen items that
# come and go, and lets each table refer to its successor for iterators that are under way. Once one table has been moved to the old heap, quick
# collections take the next one for alive, and with it all that it referred to when it was left, though everything was deleted and nothing else refers to it.
# With 64 items open at a time, as requests are in a list of open requests, more than half of all that ever was in the list is moved to the old heap, and full
# collections, which stop a server for many milliseconds, come often. In an array whose last item takes the place of the removed one nothing of it
# is. MDN and the language's text are silent; people who look for the leak find none, because a heap snapshot begins with a full collection.
# So a server keeps what is open and soon closed in an array, or keeps nothing large in such a Map.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund node-24@npm:node@24.11.1 node-26@npm:node@26.10.0 >/dev/null
cat >probe.mjs <<'JS'
import { getHeapSpaceStatistics } from 'node:v8';

/** Each item knows its place; the last one takes the place of the one that goes. */
function arrayOfOpen() {
  const items = [];
  return {
    add(item) {
      item.place = items.length;
      items.push(item);
    },
    delete(item) {
      const last = items.pop();
      if (last === item) return;
      items[item.place] = last;
      last.place = item.place;
    },
  };
}
function mapOfOpen() {
  const items = new Map();
  return { add: (item) => items.set(item, 1), delete: (item) => items.delete(item) };
}
const oldHeap = () => getHeapSpaceStatistics().find(({ space_name: name }) => name === 'old_space').space_used_size / 1e6;
const makeItem = () => ({ place: 0, body: Array.from({ length: 1000 }, (_, index) => index + 0.5) });
const count = 20_000;

async function movedWith(open) {
  // What only this function's own list of the last 64 refers to.
  const last = Array.from({ length: 64 }, makeItem);
  for (const item of last) open.add(item);
  gc();
  let moved = 0;
  let before = oldHeap();
  for (let index = 0; index < count; index += 1) {
    open.delete(last[index % 64]);
    last[index % 64] = makeItem();
    open.add(last[index % 64]);
    if (index % 100 !== 99) continue;
    const now = oldHeap();
    moved += Math.max(0, now - before);
    before = now;
    if (index % 1000 === 999) await new Promise(setImmediate);
  }
  return moved / (count * 0.008);
}
const moved = { Set: await movedWith(new Set()), Map: await movedWith(mapOfOpen()), array: await movedWith(arrayOfOpen()) };
const say = (share) => (share > 0.4 ? 'more than two fifths' : share < 0.05 ? 'less than a twentieth' : `${Math.round(share * 100)} %`);
console.log(`Node ${process.version}: of what was in it and is deleted, moved to the old heap`);
for (const [kind, share] of Object.entries(moved)) console.log(`  ${kind}: ${say(share)}`);
if (moved.Set < 0.4 || moved.Map < 0.4 || moved.array > 0.05) {
  console.error('It behaves otherwise now.', moved);
  process.exit(1);
}
JS
for version in 24 26; do
  node_modules/node-$version/bin/node --expose-gc probe.mjs
done
