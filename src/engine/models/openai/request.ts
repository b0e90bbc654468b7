import type { ModelForm } from '../../../entities/agents/options.ts';
import { providerIdentifier } from '../identifiers.ts';
import type { ModelMessage, ModelPart, ModelRequest } from '../port.ts';
import { withEnding } from '../prompts/ending.ts';
import { samplingMembers } from '../sampling.ts';

/** OpenAI itself requires the newer member names; other servers know the older ones. */
export type Dialect = Exclude<ModelForm, 'aiSdk'>;

/**
 * The body of a chat completion on the OpenAI-compatible wire, as JSON text.
 *
 * @param sendsCacheKey  whether the key of the conversation is sent where the caller names none: some servers refuse members that they do not know.
 * @param refusesThoughts  whether the server refuses thoughts that are given back as `reasoning_content`.
 * @param isDated  whether the server speaks OpenAI's wire as it was at the date of a version: it refuses what came later.
 */
export function requestBody(
  request: ModelRequest,
  dialect: Dialect,
  {
    sendsCacheKey = dialect === 'openai',
    refusesThoughts = dialect === 'openai',
    isDated = false,
  }: { readonly sendsCacheKey?: boolean; readonly refusesThoughts?: boolean; readonly isDated?: boolean } = {},
): string {
  const { parameters, responseFormat, tools, toolChoice } = request;
  const isOpenAi = dialect === 'openai';
  const obfuscation = isOpenAi && !isDated ? false : undefined;
  return JSON.stringify({
    model: request.model,
    messages: toMessages(withEnding(request), refusesThoughts),
    stream: request.isStreaming,
    stream_options: request.isStreaming ? { include_usage: true, include_obfuscation: obfuscation } : undefined,
    ...samplingMembers(parameters, dialect),
    stop: parameters.stop,
    seed: parameters.seed,
    logprobs: parameters.logprobs === undefined ? undefined : true,
    // Some servers refuse 0.
    top_logprobs: parameters.logprobs === 0 ? undefined : parameters.logprobs,
    logit_bias: parameters.logitBias,
    reasoning_effort: parameters.reasoningEffort,
    verbosity: parameters.verbosity,
    service_tier: parameters.serviceTier,
    user: parameters.user,
    safety_identifier: providerIdentifier(parameters.safetyIdentifier),
    prompt_cache_key: providerIdentifier(parameters.promptCacheKey ?? (sendsCacheKey ? request.cacheKey : undefined)),
    response_format: responseFormat === undefined || responseFormat.type === 'text' ? undefined : toFormat(responseFormat),
    tools: tools.length === 0 ? undefined : tools.map(({ cache: _mark, ...tool }) => ({ type: 'function', function: tool })),
    tool_choice: tools.length === 0 ? undefined : toChoice(toolChoice),
    parallel_tool_calls: tools.length === 0 ? undefined : request.parallelToolCalls,
  });
}

/**
 * Servers that tell their thoughts demand them back with the tool calls of the same turn, also in later turns. Without calls they take none or
 * refuse them. OpenAI tells none, and refuses members that it does not know; Mistral tells them as parts of the content, and refuses them as a member.
 */
function toMessages(messages: readonly ModelMessage[], refusesThoughts: boolean): readonly object[] {
  if (refusesThoughts || !messages.some((message) => message.role === 'assistant' && message.thoughts !== undefined)) {
    return messages.map(toMessage);
  }
  let turn = 0;
  // A user message behind an output shows its images.
  const turns = messages.map(({ role }, index) => {
    if (role === 'user' && messages[index - 1]?.role !== 'tool') turn += 1;
    return turn;
  });
  const turnsWithCalls = new Set(turns.filter((_turn, index) => messages[index]?.role === 'tool'));
  return messages.map((message, index) => {
    const isWanted = message.role === 'assistant' && turnsWithCalls.has(turns[index] ?? 0);
    const thoughtText = isWanted ? (message.thoughts ?? []).map(({ text }) => text).join('\n') : '';
    return thoughtText === '' ? toMessage(message) : { ...toMessage(message), reasoning_content: thoughtText };
  });
}

function toMessage(message: ModelMessage): object {
  switch (message.role) {
    case 'system':
      return { role: 'system', name: message.name, content: message.content };
    case 'user':
      return { role: 'user', name: message.name, content: toContent(message.content) };
    case 'assistant': {
      const calls = message.toolCalls ?? [];
      if (calls.length === 0) return { role: 'assistant', name: message.name, content: message.content ?? '' };
      const toolCalls = calls.map((call) => ({
        id: call.id,
        type: 'function',
        function: { name: call.name, arguments: call.arguments },
      }));
      return { role: 'assistant', name: message.name, content: message.content, tool_calls: toolCalls };
    }
    case 'tool':
      return { role: 'tool', tool_call_id: message.toolCallId, content: message.content };
  }
}

/** Texts that are apart for a cache only are one text: a model without images may take no parts. */
function toContent(content: string | readonly ModelPart[]): string | readonly object[] {
  if (typeof content === 'string') return content;
  const isMarked = content.some(({ cache }) => cache !== undefined);
  const texts = content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  return isMarked && texts.length === content.length ? texts.join('\n') : content.map(toPart);
}

function toPart(part: ModelPart): object {
  if (part.type === 'text') return part.cache === undefined ? part : { type: 'text', text: part.text };
  return { type: 'image_url', image_url: { url: part.url, detail: part.detail } };
}

function toFormat(format: Exclude<NonNullable<ModelRequest['responseFormat']>, { type: 'text' }>): object {
  if (format.type === 'json_object') return { type: 'json_object' };
  const { name, description, schema, strict } = format;
  return { type: 'json_schema', json_schema: { name, description, schema, strict } };
}

function toChoice(choice: ModelRequest['toolChoice']): unknown {
  return typeof choice === 'object' ? { type: 'function', function: { name: choice.name } } : choice;
}
