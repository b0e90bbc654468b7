#!/usr/bin/env bash
# openevals 0.2.2 (agentevals 0.0.7 has the same code) compares the tool calls of an agent with those that a person expected, and gives verdicts that its
# modes do not say. `toolArgsMatchMode: "superset"` lets a call have further arguments; together with `trajectoryMatchMode: "subset"` the sides are
# exchanged, so the call with further arguments fails and the one that lacks an argument passes; together with "unordered" it lets nothing pass but equal
# arguments. Calls are matched one by one, each with the first that fits, so the same calls pass or fail by the order in which they were made, though
# "superset" of trajectories takes no notice of order. And "strict" takes an empty list of tool calls, as some SDKs write it, for a tool call: two
# answers that are the same to the letter differ. So compare with "exact", or with a function of one's own.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund openevals@0.2.2 agentevals@0.0.7 @langchain/core@1.4.0 >/dev/null
cat >probe.mjs <<'JS'
import * as agentevals from 'agentevals';
import * as openevals from 'openevals';

const call = (args) => ({ function: { name: 'search', arguments: JSON.stringify(args) } });
const answer = (...calls) => [{ role: 'assistant', content: '', tool_calls: calls.map(call) }];
const plain = { q: 'bikes' };
const paged = { q: 'bikes', page: 2 };
const seen = {};
for (const [name, { createTrajectoryMatchEvaluator }] of Object.entries({ openevals, agentevals })) {
  const compare = async (trajectoryMatchMode, outputs, referenceOutputs) => {
    const evaluate = createTrajectoryMatchEvaluator({ trajectoryMatchMode, toolArgsMatchMode: 'superset' });
    return (await evaluate({ outputs, referenceOutputs })).score;
  };
  seen[name] = {
    'superset, one argument more': await compare('superset', answer(paged), answer(plain)),
    'subset, one argument more': await compare('subset', answer(paged), answer(plain)),
    'subset, one argument less': await compare('subset', answer(plain), answer(paged)),
    'unordered, one argument more': await compare('unordered', answer(paged), answer(plain)),
    'superset, two calls': await compare('superset', answer(plain, paged), answer(plain, paged)),
    'superset, the same in another order': await compare('superset', answer(paged, plain), answer(plain, paged)),
    'strict, an empty list of calls beside none': await compare('strict', [{ role: 'assistant', content: 'Hello' }], [{ role: 'assistant', content: 'Hello', tool_calls: [] }]),
  };
}
for (const [name, verdicts] of Object.entries(seen)) for (const [what, score] of Object.entries(verdicts)) console.log(`${name}: ${what}: ${score}`);
const expected = [true, false, true, false, true, false, false];
if (!Object.values(seen).every((verdicts) => JSON.stringify(Object.values(verdicts)) === JSON.stringify(expected))) {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
process.exit(0);
JS
for name in openevals agentevals; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen:
#   openevals: superset, one argument more: true
#   openevals: subset, one argument more: false
#   openevals: subset, one argument less: true
#   openevals: unordered, one argument more: false
#   openevals: superset, two calls: true
#   openevals: superset, the same in another order: false
#   openevals: strict, an empty list of calls beside none: false
#   agentevals: superset, one argument more: true
#   agentevals: subset, one argument more: false
#   agentevals: subset, one argument less: true
#   agentevals: unordered, one argument more: false
#   agentevals: superset, two calls: true
#   agentevals: superset, the same in another order: false
#   agentevals: strict, an empty list of calls beside none: false
