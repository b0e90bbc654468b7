#!/usr/bin/env bash
# Lists of openai 7.59.0 and @anthropic-ai/sdk 1.14.0 end early without an error. `models.list()` of openai never asks for a second page, though the
# answer says `has_more: true`: of a server with pages, `for await` shows the first one. And for each other list of both, such as files, vector stores,
# conversation items, batches and models of Anthropic, a page without items is the last, also where it says `has_more: true`: what lies behind it is
# not asked for. So a server must answer all models at once, and a list that filters what it has read (by rights, or by a deletion under way) has to
# read on until a page holds something.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund openai@7.59.0 @anthropic-ai/sdk@1.14.0 >/dev/null
cat >probe.mjs <<'JS'
import { createServer } from 'node:http';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';

const clients = {
  'openai models': (options) => new OpenAI(options).models.list(),
  'openai files': (options) => new OpenAI(options).files.list(),
  'openai vector stores': (options) => new OpenAI(options).vectorStores.list(),
  'anthropic models': (options) => new Anthropic(options).models.list(),
};
/** The ids that a client shows of these pages; each but the last says that there are more. */
async function read(list, pages) {
  let requests = 0;
  const server = createServer((request, response) => {
    request.resume();
    const ids = pages[requests] ?? [];
    requests += 1;
    const page = { object: 'list', data: ids.map((id) => ({ id })), first_id: ids[0] ?? `cursor_${requests}`, last_id: ids.at(-1) ?? `cursor_${requests}` };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ ...page, has_more: requests < pages.length }));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const ids = [];
  for await (const { id } of list({ apiKey: 'none', baseURL: `http://127.0.0.1:${server.address().port}` })) ids.push(id);
  server.closeAllConnections();
  server.close();
  return ids.join(' ');
}
const seen = [];
for (const [name, list] of Object.entries(clients)) {
  const full = await read(list, [['a', 'b'], ['c'], ['d']]);
  const withEmpty = await read(list, [['a', 'b'], [], ['d']]);
  seen.push(`${name}: of three pages "${full}", with an empty one between "${withEmpty}"`);
  console.log(seen.at(-1));
}
const expected = [
  'openai models: of three pages "a b", with an empty one between "a b"',
  ...['openai files', 'openai vector stores', 'anthropic models'].map(
    (name) => `${name}: of three pages "a b c d", with an empty one between "a b"`,
  ),
];
if (JSON.stringify(seen) !== JSON.stringify(expected)) {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
JS
for name in openai @anthropic-ai/sdk; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen:
#   openai models: of three pages "a b", with an empty one between "a b"
#   openai files: of three pages "a b c d", with an empty one between "a b"
#   openai vector stores: of three pages "a b c d", with an empty one between "a b"
#   anthropic models: of three pages "a b c d", with an empty one between "a b"
