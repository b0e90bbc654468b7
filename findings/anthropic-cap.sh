#!/usr/bin/env bash
# @ai-sdk/anthropic 4.0.105: `maxOutputTokens` does not bound what is asked for when `reasoning` is set. For a model that thinks within a budget, the
# adapter takes the budget from the model's own maximum, not from the cap, and sends their sum as `max_tokens`: 500 becomes 38,900. One that thinks
# adaptively gets the cap as it is. So whoever bounds cost by `maxOutputTokens` must give the cap without the budget, and the budget himself.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @ai-sdk/anthropic@4.0.105 >/dev/null
cat >probe.mjs <<'JS'
import { createAnthropic } from '@ai-sdk/anthropic';

const sent = async (model) => {
  let body;
  const fetch = async (_url, init) => {
    body = JSON.parse(init.body);
    throw new Error('not sent');
  };
  const prompt = [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }];
  const call = { prompt, maxOutputTokens: 500, reasoning: 'high' };
  await createAnthropic({ apiKey: 'none', fetch })(model).doStream(call).catch(() => undefined);
  return body;
};
const budget = await sent('claude-sonnet-4-5');
const adaptive = await sent('claude-opus-4-6');
console.log('maxOutputTokens 500, reasoning high');
console.log('claude-sonnet-4-5:', JSON.stringify({ max_tokens: budget.max_tokens, thinking: budget.thinking }));
console.log('claude-opus-4-6:  ', JSON.stringify({ max_tokens: adaptive.max_tokens, thinking: adaptive.thinking }));
if (budget.max_tokens !== 38_900 || adaptive.max_tokens !== 500) {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
JS
echo "@ai-sdk/anthropic $(node -p "require('./node_modules/@ai-sdk/anthropic/package.json').version")"
node probe.mjs
# Seen:
#   @ai-sdk/anthropic 4.0.105
#   maxOutputTokens 500, reasoning high
#   claude-sonnet-4-5: {"max_tokens":38900,"thinking":{"type":"enabled","budget_tokens":38400}}
#   claude-opus-4-6:   {"max_tokens":500,"thinking":{"type":"adaptive","display":"summarized"}}
