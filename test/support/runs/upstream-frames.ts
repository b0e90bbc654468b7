import type { UpstreamScript } from '../upstream.ts';

const head = (model: string, { serviceTier }: UpstreamScript) => ({
  ...{ id: 'chatcmpl-upstream', created: 1_700_000_000, model },
  ...(serviceTier === undefined ? {} : { service_tier: serviceTier }),
});

function finishOf(script: UpstreamScript): string {
  return script.finish ?? ((script.toolCalls ?? []).length > 0 ? 'tool_calls' : 'stop');
}

function textsOf(script: UpstreamScript): readonly string[] {
  if (script.text === undefined) return [];
  return typeof script.text === 'string' ? [script.text] : script.text;
}

function usageOf(script: UpstreamScript): Record<string, number> | null {
  if (script.usage === null) return null;
  const usage = script.usage ?? { prompt_tokens: 10, completion_tokens: Math.max(1, textsOf(script).length) };
  return { ...usage, total_tokens: usage.prompt_tokens + usage.completion_tokens };
}

/** One SSE frame for each chunk of a scripted answer, `[DONE]` last. */
export function chatFrames(script: UpstreamScript, model: string, includeUsage: boolean): readonly string[] {
  const chunk = (delta: object, finish: string | null = null) => ({
    object: 'chat.completion.chunk',
    ...head(model, script),
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  const chunks: object[] = [chunk({ role: 'assistant', content: '' })];
  if (script.reasoning !== undefined) chunks.push(chunk({ reasoning_content: script.reasoning }));
  for (const [index, text] of textsOf(script).entries()) {
    const told = script.logprobs?.[index];
    const whole = chunk({ content: text });
    const choices = whole.choices.map((choice) => ({ ...choice, logprobs: { content: [told] } }));
    chunks.push(told === undefined ? whole : { ...whole, choices });
  }
  if (script.refusal !== undefined) chunks.push(chunk({ refusal: script.refusal }));
  for (const [index, call] of (script.toolCalls ?? []).entries()) {
    const start = { index, id: call.id, type: 'function', function: { name: call.name, arguments: '' } };
    chunks.push(chunk({ tool_calls: [start] }));
    const middle = Math.ceil(call.arguments.length / 2);
    for (const piece of [call.arguments.slice(0, middle), call.arguments.slice(middle)]) {
      if (piece !== '') chunks.push(chunk({ tool_calls: [{ index, function: { arguments: piece } }] }));
    }
  }
  chunks.push(chunk({}, finishOf(script)));
  const usage = usageOf(script);
  if (includeUsage && usage !== null) {
    chunks.push({ object: 'chat.completion.chunk', ...head(model, script), choices: [], usage });
  }
  return [...chunks.map((value) => `data: ${JSON.stringify(value)}\n\n`), 'data: [DONE]\n\n'];
}

/** The same answer in one piece. */
export function chatBody(script: UpstreamScript, model: string): object {
  const calls = (script.toolCalls ?? []).map(({ id, name, arguments: args }) => ({
    id,
    type: 'function',
    function: { name, arguments: args },
  }));
  const message = {
    role: 'assistant',
    content: script.text === undefined ? null : textsOf(script).join(''),
    ...(script.reasoning === undefined ? {} : { reasoning_content: script.reasoning }),
    ...(script.refusal === undefined ? {} : { refusal: script.refusal }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
  const usage = usageOf(script);
  return {
    object: 'chat.completion',
    ...head(model, script),
    choices: [
      {
        index: 0,
        message,
        finish_reason: finishOf(script),
        ...(script.logprobs === undefined ? {} : { logprobs: { content: script.logprobs } }),
      },
    ],
    ...(usage === null ? {} : { usage }),
  };
}
