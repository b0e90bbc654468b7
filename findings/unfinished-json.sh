#!/usr/bin/env bash
# Arguments of tools and structured answers are read while they come, by parsers of unfinished JSON. Three of them do not read JSON as many servers write it, also
# where it is finished. Servers in Python write each letter beyond ASCII as an escape (json.dumps does by default): where the last text is an odd number of
# escapes, as half of all words in Russian or Chinese are, untruncate-json 0.0.1 closes it twice: {"city":"\u0420\u0438\u043c"}"}. best-effort-json-parser
# 1.5.1 throws while an escape is half there, which is at up to five of six characters of such a text. incomplete-json-parser 1.1.5 throws at an empty object or
# list within another ({"filter":{}}), as optional arguments are written, and at exponents (1e-7, which JSON.stringify writes). partial-json 0.1.7 and
# `parsePartialJson` of the AI SDK (ai 7.0.173) read all of it, finished or not. jsonrepair 3.15.0 never throws, but shows half a `true` as the text "tru".
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund untruncate-json@0.0.1 best-effort-json-parser@1.5.1 incomplete-json-parser@1.1.5 partial-json@0.1.7 jsonrepair@3.15.0 ai@7.0.173 >/dev/null
cat >probe.mjs <<'JS'
import { parsePartialJson } from 'ai';
import * as bestEffort from 'best-effort-json-parser';
import { IncompleteJsonParser } from 'incomplete-json-parser';
import { jsonrepair } from 'jsonrepair';
import * as partial from 'partial-json';
import untruncated from 'untruncate-json';

console.error = () => {};
const untruncate = untruncated.default ?? untruncated;
const parsers = {
  'untruncate-json': (json) => JSON.parse(untruncate(json)),
  'best-effort-json-parser': (json) => bestEffort.parse(json),
  'incomplete-json-parser': (json) => IncompleteJsonParser.parse(json),
  'partial-json': (json) => partial.parse(json),
  ai: async (json) => (await parsePartialJson(json)).value,
  jsonrepair: (json) => JSON.parse(jsonrepair(json)),
};
const finished = {
  'a text of escapes': String.raw`{"city":"\u0420\u0438\u043c"}`,
  'an empty object': '{"filter":{}}',
  'an exponent': '{"rate":1e-7}',
};
const cut = String.raw`{"city":"\u0420\u0438\u043c`;
const start = cut.indexOf('\\');
const seen = {};
for (const [name, parse] of Object.entries(parsers)) {
  const read = async (json) => {
    try {
      return JSON.stringify(await parse(json));
    } catch {
      return 'throws';
    }
  };
  const results = [];
  for (const [what, json] of Object.entries(finished)) {
    const isRight = (await read(json)) === JSON.stringify(JSON.parse(json));
    results.push(`${what}: ${isRight ? 'right' : 'throws'}`);
  }
  let throwsAt = 0;
  for (let end = start + 1; end <= cut.length; end += 1) throwsAt += Number((await read(cut.slice(0, end))) === 'throws');
  results.push(`throws at ${throwsAt} of ${cut.length - start} characters of the escapes`);
  results.push(`half a true: ${await read('{"open":tru')}`);
  seen[name] = results.join('; ');
  console.log(`${name}: ${seen[name]}`);
}
console.log(`untruncate-json gives ${untruncate(finished['a text of escapes'])}`);
const right = 'a text of escapes: right; an empty object: right; an exponent: right; throws at 0 of 18 characters of the escapes';
const expected = {
  'untruncate-json': /^a text of escapes: throws; an empty object: right; an exponent: right; throws at [1-9]/,
  'best-effort-json-parser': /^a text of escapes: right; an empty object: right; an exponent: right; throws at (9|1[0-5]) of 18/,
  'incomplete-json-parser': /^a text of escapes: right; an empty object: throws; an exponent: throws/,
  'partial-json': new RegExp(`^${right}`),
  ai: new RegExp(`^${right}`),
  jsonrepair: new RegExp(`^${right}; half a true: {"open":"tru"}$`),
};
const wrong = Object.entries(expected).filter(([name, pattern]) => !pattern.test(seen[name]));
if (wrong.length > 0) {
  console.error = undefined;
  process.stderr.write(`It behaves otherwise now: ${wrong.map(([name]) => name).join(', ')}\n`);
  process.exit(1);
}
process.exit(0);
JS
for name in untruncate-json best-effort-json-parser incomplete-json-parser partial-json jsonrepair ai; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen:
#   untruncate-json: a text of escapes: throws; an empty object: right; an exponent: right; throws at 5 of 18 characters of the escapes; half a true: {"open":true}
#   best-effort-json-parser: a text of escapes: right; an empty object: right; an exponent: right; throws at 12 of 18 characters of the escapes; half a true: {"open":true}
#   incomplete-json-parser: a text of escapes: right; an empty object: throws; an exponent: throws; throws at 0 of 18 characters of the escapes; half a true: {"open":true}
#   partial-json: a text of escapes: right; an empty object: right; an exponent: right; throws at 0 of 18 characters of the escapes; half a true: {"open":true}
#   ai: a text of escapes: right; an empty object: right; an exponent: right; throws at 0 of 18 characters of the escapes; half a true: {"open":true}
#   jsonrepair: a text of escapes: right; an empty object: right; an exponent: right; throws at 0 of 18 characters of the escapes; half a true: {"open":"tru"}
#   untruncate-json gives {"city":"\u0420\u0438\u043c"}"}
