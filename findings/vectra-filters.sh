#!/usr/bin/env bash
# vectra 0.15.0, a vector store in files whose package is described as having filters compatible with Pinecone's: some find nothing or everything, with no error. `$in` and
# `$nin` take texts only: of numbers and booleans, which metadata may be, `{page: {$in: [0, 1]}}` finds no item, and `{page: {$nin: [3]}}` does not leave page 3
# out, so what a filter was to exclude, such as a version that is withdrawn, comes back. An operator that it does not know (`$regex`, or `$gt`
# mistyped) is equality. A member that is not in `metadata_config.indexed` is in the metadata of each result, and every filter by it finds nothing.
# And a vector of another length than the others, as after a change of the embedding model, is taken, and gets a score. Write `$or` of single equalities for
# `$in`, `$and` of `$ne` for `$nin`, and check lengths and operators yourself.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund vectra@0.15.0 >/dev/null
cat >probe.mjs <<'JS'
import { LocalIndex } from 'vectra';

const open = async (name, indexed) => {
  const index = new LocalIndex(name);
  await index.createIndex(indexed === undefined ? undefined : { version: 1, metadata_config: { indexed } });
  for (let page = 0; page < 4; page += 1) {
    await index.insertItem({ vector: [1, page / 10], metadata: { page, lang: page % 2 === 0 ? 'en' : 'de', isOpen: page < 2 } });
  }
  return index;
};
const pages = async (index, filter) => (await index.queryItems([1, 0], '', 9, filter)).map(({ item }) => item.metadata.page).sort().join(',');
const index = await open('all');
const some = await open('some', ['lang']);
const seen = {
  'texts $in': await pages(index, { lang: { $in: ['de'] } }),
  'texts $nin': await pages(index, { lang: { $nin: ['de'] } }),
  'numbers $in [0, 1]': await pages(index, { page: { $in: [0, 1] } }),
  'numbers $nin [3]': await pages(index, { page: { $nin: [3] } }),
  'booleans $in [true]': await pages(index, { isOpen: { $in: [true] } }),
  '$or of equalities': await pages(index, { $or: [{ page: 0 }, { page: 1 }] }),
  '$and of $ne': await pages(index, { $and: [{ page: { $ne: 3 } }, { page: { $ne: 0 } }] }),
  'an unknown operator': await pages(index, { page: { $greater: 1 } }),
  'a member that is indexed': await pages(some, { lang: 'de' }),
  'a member that is not': await pages(some, { page: 1 }),
};
await index.insertItem({ vector: [1, 0, 9], metadata: { page: 4 } });
const [other] = (await index.queryItems([1, 0], '', 9)).filter(({ item }) => item.metadata.page === 4);
seen['a vector of another length'] = other === undefined ? 'left out' : `score ${other.score.toFixed(2)}`;
for (const [name, found] of Object.entries(seen)) console.log(`${name}: ${found === '' ? 'nothing' : found}`);
if (Object.values(seen).join(' ') !== process.env.EXPECTED) {
  console.error(`It behaves otherwise now: ${Object.values(seen).join(' ')}`);
  process.exit(1);
}
process.exit(0);
JS
echo "vectra $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/vectra/package.json', 'utf8')).version")"
EXPECTED='1,3 0,2  0,1,2,3  0,1 1,2 1 1,3  score 0.11' node probe.mjs
# Seen:
#   texts $in: 1,3
#   texts $nin: 0,2
#   numbers $in [0, 1]: nothing
#   numbers $nin [3]: 0,1,2,3
#   booleans $in [true]: nothing
#   $or of equalities: 0,1
#   $and of $ne: 1,2
#   an unknown operator: 1
#   a member that is indexed: 1,3
#   a member that is not: nothing
#   a vector of another length: score 0.11
