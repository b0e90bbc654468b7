#!/usr/bin/env bash
# @anthropic-ai/sdk 1.14.0: `beta.messages.toolRunner()` asks for a conversation that the server keeps: each request has `thread: {type: "create"}`,
# though the caller said nothing of threads. A gateway that refuses members it does not know breaks the runner, also where it serves all that the
# caller asked for. The runner goes on without threads for one refusal only: `error.details.error_code` must be "thread_unsupported_request". The
# same SDK sends the version 2026-10-21, so a gateway that checks `anthropic-version` against 2023-06-01 refuses everything.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @anthropic-ai/sdk@1.14.0 >/dev/null
cat >probe.mjs <<'JS'
import Anthropic from '@anthropic-ai/sdk';

const run = async (details) => {
  const sent = [];
  const fetch = async (_url, init) => {
    const body = JSON.parse(init.body);
    sent.push(body.thread === undefined ? 'without' : JSON.stringify(body.thread));
    const version = new Headers(init.headers).get('anthropic-version');
    if (body.thread !== undefined) {
      const error = { type: 'invalid_request_error', message: 'thread: Extra inputs are not permitted', ...details };
      return Response.json({ type: 'error', error }, { status: 400 });
    }
    const usage = { input_tokens: 1, output_tokens: 1 };
    const message = { id: 'm', type: 'message', role: 'assistant', model: 'm', stop_reason: 'end_turn', stop_sequence: null, usage };
    return Response.json({ ...message, content: [{ type: 'text', text: version }] });
  };
  const client = new Anthropic({ apiKey: 'none', fetch, maxRetries: 0 });
  const messages = [{ role: 'user', content: 'Hi' }];
  try {
    const answer = await client.beta.messages.toolRunner({ model: 'm', max_tokens: 9, messages, tools: [] }).runUntilDone();
    return `${sent.join(', then ')}: answered, version ${answer.content[0].text}`;
  } catch (error) {
    return `${sent.join(', then ')}: ${error.constructor.name}`;
  }
};
const plain = await run({});
const known = await run({ details: { error_code: 'thread_unsupported_request', unsupported: ['thread'] } });
console.log('refused as an unknown member:', plain);
console.log('refused in its words:', known);
if (!plain.endsWith('BadRequestError') || known !== '{"type":"create"}, then without: answered, version 2026-10-21') {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
JS
echo "@anthropic-ai/sdk $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/@anthropic-ai/sdk/package.json', 'utf8')).version")"
node probe.mjs
# Seen:
#   refused as an unknown member: {"type":"create"}: BadRequestError
#   refused in its words: {"type":"create"}, then without: answered, version 2026-10-21
