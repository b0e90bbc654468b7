#!/usr/bin/env bash
# tokenlens 1.3.1, which tells the cost of a call from the usage of the AI SDK, takes cached tokens twice. In that usage the input includes what came from
# the cache; tokenlens bills the whole input at the full price and the cached part once more at the price of the cache: 10,000 tokens of Claude Sonnet 4,
# 9,000 of them cached, cost $0.0057, and it says $0.0327. It knows `cachedInputTokens` only: of the usage that ai 7.0.173 gives, with the cached tokens in
# `inputTokenDetails`, it says $0.03. And for "openai/gpt-4o" (the form with a slash, which it takes for Claude) it says $0, without an error.
# So the better a cache works, the more a budget that counts with it is off: read the details, and take the cached tokens off the input first.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund tokenlens@1.3.1 ai@7.0.173 @ai-sdk/anthropic@4.0.105 >/dev/null
cat >probe.mjs <<'JS'
import { createServer } from 'node:http';
import { createAnthropic } from '@ai-sdk/anthropic';
import { generateText } from 'ai';
import { getTokenCosts } from 'tokenlens';

const usage = { input_tokens: 1000, cache_read_input_tokens: 9000, cache_creation_input_tokens: 0, output_tokens: 0 };
const server = createServer(async (request, response) => {
  await request.toArray();
  response.writeHead(200, { 'content-type': 'application/json' });
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [{ type: 'text', text: 'Hi' }], stop_reason: 'end_turn' };
  response.end(JSON.stringify({ ...message, stop_sequence: null, usage }));
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const model = createAnthropic({ apiKey: 'none', baseURL: `http://127.0.0.1:${server.address().port}` })('claude-sonnet-4-20250514');
const { usage: given } = await generateText({ model, prompt: 'Hi' });

const inputPrice = 3 / 1e6;
const cachePrice = 0.3 / 1e6;
const cost = (modelId, usage) => getTokenCosts({ modelId, usage }).totalUSD.toFixed(4);
const claude = 'anthropic/claude-sonnet-4-20250514';
const seen = {
  'by the prices': (1000 * inputPrice + 9000 * cachePrice).toFixed(4),
  'without cached tokens': cost(claude, { inputTokens: 10_000, outputTokens: 0 }),
  'with cachedInputTokens': cost(claude, { inputTokens: 10_000, cachedInputTokens: 9000, outputTokens: 0 }),
  'with the usage of ai 7': cost(claude, given),
  'another model, with a slash': cost('openai/gpt-4o', { inputTokens: 10_000, outputTokens: 0 }),
  'another model, with a colon': cost('openai:gpt-4o', { inputTokens: 10_000, outputTokens: 0 }),
};
console.log(`usage of ai 7: ${given.inputTokens} tokens, ${given.inputTokenDetails.cacheReadTokens} of them cached`);
for (const [name, dollars] of Object.entries(seen)) console.log(`${name}: $${dollars}`);
if (Object.values(seen).join(' ') !== '0.0057 0.0300 0.0327 0.0300 0.0000 0.0250') {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
process.exit(0);
JS
for name in tokenlens ai @ai-sdk/anthropic; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen:
#   usage of ai 7: 10000 tokens, 9000 of them cached
#   by the prices: $0.0057
#   without cached tokens: $0.0300
#   with cachedInputTokens: $0.0327
#   with the usage of ai 7: $0.0300
#   another model, with a slash: $0.0000
#   another model, with a colon: $0.0250
