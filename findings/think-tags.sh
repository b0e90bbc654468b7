#!/usr/bin/env bash
# `extractReasoningMiddleware` of the AI SDK (ai 7.0.173), which takes the thoughts of models that write <think>…</think> out of the answer, gives the same
# answer otherwise when it is streamed. One that its token limit cuts off while the model thinks: `generateText` gives the thoughts as the text of the answer,
# tag and all, for people to read, and no reasoning; `streamText` gives them as reasoning, and an empty text. With `startWithReasoning: true`, made for models
# that leave the first tag out, an answer without any thought (thinking turned off, or a short question) is the text of one, and reasoning without a text of
# the other: a chat that streams shows an empty answer. And an answer about the tags themselves, in code marks, loses what stands between them in both.
# So look at the finish reason before you show a text, and set `startWithReasoning` only where the model thinks each time.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund ai@7.0.173 >/dev/null
cat >probe.mjs <<'JS'
import { extractReasoningMiddleware, generateText, simulateReadableStream, streamText, wrapLanguageModel } from 'ai';

const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
function modelThatSays(text, finish) {
  const finishReason = { unified: finish, raw: finish };
  const chunks = [{ type: 'stream-start', warnings: [] }, { type: 'text-start', id: '1' }, { type: 'text-delta', id: '1', delta: text }, { type: 'text-end', id: '1' }, { type: 'finish', finishReason, usage }];
  return {
    ...{ specificationVersion: 'v4', provider: 'example', modelId: 'thinker', supportedUrls: {} },
    doGenerate: async () => ({ content: [{ type: 'text', text }], finishReason, usage, warnings: [] }),
    doStream: async () => ({ stream: simulateReadableStream({ initialDelayInMs: null, chunkDelayInMs: null, chunks }) }),
  };
}
const cases = [
  ['thoughts and an answer', '<think>One plus one</think>Two', 'stop', {}],
  ['cut off while it thinks', '<think>One plus', 'length', {}],
  ['the first tag left out', 'One plus one</think>Two', 'stop', { startWithReasoning: true }],
  ['no thought, startWithReasoning', 'Two', 'stop', { startWithReasoning: true }],
  ['an answer about the tags', 'Put thoughts between `<think>` and `</think>`.', 'stop', {}],
];
const seen = [];
for (const [name, text, finish, options] of cases) {
  const model = wrapLanguageModel({ model: modelThatSays(text, finish), middleware: extractReasoningMiddleware({ tagName: 'think', ...options }) });
  const whole = await generateText({ model, prompt: 'Ask' });
  const stream = streamText({ model, prompt: 'Ask' });
  await stream.consumeStream();
  const found = [whole.text, whole.reasoningText ?? null, await stream.text, (await stream.reasoningText) ?? null];
  console.log(`${name}: generateText ${JSON.stringify(found.slice(0, 2))}, streamText ${JSON.stringify(found.slice(2))}`);
  seen.push(found);
}
const stated = [
  ['Two', 'One plus one', 'Two', 'One plus one'],
  ['<think>One plus', null, '', 'One plus'],
  ['Two', 'One plus one', 'Two', 'One plus one'],
  ['Two', null, '', 'Two'],
  ['Put thoughts between `\n`.', '` and `', 'Put thoughts between `\n`.', '` and `'],
];
if (JSON.stringify(seen) !== JSON.stringify(stated)) {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
JS
echo "ai $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/ai/package.json', 'utf8')).version"): [text, reasoning]"
node probe.mjs
# Seen:
#   ai 7.0.173: [text, reasoning]
#   thoughts and an answer: generateText ["Two","One plus one"], streamText ["Two","One plus one"]
#   cut off while it thinks: generateText ["<think>One plus",null], streamText ["","One plus"]
#   the first tag left out: generateText ["Two","One plus one"], streamText ["Two","One plus one"]
#   no thought, startWithReasoning: generateText ["Two",null], streamText ["","Two"]
#   an answer about the tags: generateText ["Put thoughts between `\n`.","` and `"], streamText ["Put thoughts between `\n`.","` and `"]
