#!/usr/bin/env bash
# Scorers of autoevals 0.3.0 that need no model give other scores than their names say. `ExactMatch` compares objects as JSON text: the same members
# in another order are 0, and the text "1" and the number 1 are 1. `JSONDiff` compares booleans as the words "true" and "false" by their letters, so an
# answer with the wrong one still gets 0.2, and a date that is a year off 0.9. `ValidJSON` gives 0 to a number, a string and null, which are JSON by
# RFC 8259. Its documentation is silent about these cases, and averages over many cases hide them; openevals 0.2.2 gives 1 to equal objects in any
# order and 0 to an opposite boolean. So compare objects by JSONDiff, and take its score of a decision or a date for right only where it is 1.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund autoevals@0.3.0 openevals@0.2.2 >/dev/null
cat >probe.mjs <<'JS'
import { ExactMatch, JSONDiff, ValidJSON } from 'autoevals';
import { createJsonMatchEvaluator, exactMatch } from 'openevals';

const matchMembers = createJsonMatchEvaluator({ aggregator: 'average' });
const cases = [
  ['ExactMatch', 'equal objects, members in another order', ExactMatch, { to: 'Ann', days: 2 }, { days: 2, to: 'Ann' }, 0],
  ['ExactMatch', 'a text and a number', ExactMatch, '1', 1, 1],
  ['JSONDiff', 'equal objects, members in another order', JSONDiff, { to: 'Ann', days: 2 }, { days: 2, to: 'Ann' }, 1],
  ['JSONDiff', 'the opposite boolean', JSONDiff, { approved: true }, { approved: false }, 0.2],
  ['JSONDiff', 'a year too late', JSONDiff, { due: '2026-03-01' }, { due: '2025-03-01' }, 0.9],
  ['ValidJSON', 'the number 5', ValidJSON, '5', undefined, 0],
  ['ValidJSON', 'null', ValidJSON, 'null', undefined, 0],
  ['ValidJSON', 'a list', ValidJSON, '[5]', undefined, 1],
];
let isAsStated = true;
for (const [name, what, scorer, output, expected, stated] of cases) {
  const score = Math.round((await scorer({ output, expected })).score * 100) / 100;
  console.log(`${name}, ${what}: ${score}`);
  isAsStated &&= score === stated;
}
const equal = await exactMatch({ outputs: { to: 'Ann', days: 2 }, referenceOutputs: { days: 2, to: 'Ann' } });
const [opposite] = await matchMembers({ outputs: { approved: true }, referenceOutputs: { approved: false } });
console.log(`openevals: ${Number(equal.score)} for equal objects in another order, ${opposite.score} for the opposite boolean`);
if (!isAsStated || !equal.score || opposite.score !== 0) {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
JS
for name in autoevals openevals; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen:
#   ExactMatch, equal objects, members in another order: 0
#   ExactMatch, a text and a number: 1
#   JSONDiff, equal objects, members in another order: 1
#   JSONDiff, the opposite boolean: 0.2
#   JSONDiff, a year too late: 0.9
#   ValidJSON, the number 5: 0
#   ValidJSON, null: 0
#   ValidJSON, a list: 1
#   openevals: 1 for equal objects in another order, 0 for the opposite boolean
