import type { ResponseHead } from '../../entities/runs/response.ts';
import { echoIn, type ResponseEcho } from '../../wire/responses/reply.ts';
import { builder } from '../builder/builder.ts';

/** What a response was asked, as it is stored with the response. */
export const RunRequestType = builder.objectRef<ResponseEcho>('RunRequest').implement({
  access: { scope: 'CHATS:READ' },
  description: 'What a response was asked. Members are those of `ResponseInput`, with the values that its run uses.',
  fields: (t) => ({
    model: t.exposeString('model', { description: 'The model as the request named it.' }),
    instructions: t.exposeString('instructions', {
      nullable: true,
      description: 'Of this response only; null when the request had none.',
    }),
    previousResponseId: t.exposeString('previous_response_id', {
      nullable: true,
      description: 'The response that it continues, as the request named it.',
    }),
    store: t.exposeBoolean('store', { description: 'Whether it is kept.' }),
    background: t.exposeBoolean('background', { description: 'Whether it continues without a reader.' }),
    maxOutputTokens: t.exposeInt('max_output_tokens', {
      nullable: true,
      description: 'Most tokens of one answer of the model; null for no limit.',
    }),
    maxToolCalls: t.exposeInt('max_tool_calls', {
      nullable: true,
      description: 'Most calls of tools of the service; null for no limit.',
    }),
    parallelToolCalls: t.exposeBoolean('parallel_tool_calls', { description: 'Whether one turn may have several calls.' }),
    temperature: t.exposeFloat('temperature', { description: 'As the request set it, or 1: models have defaults of their own.' }),
    topP: t.exposeFloat('top_p', { description: 'As the request set it, or 1.' }),
    topLogprobs: t.exposeInt('top_logprobs', {
      description: 'How many likely tokens are returned for each position, from 0.',
    }),
    presencePenalty: t.exposeFloat('presence_penalty', { description: 'As the request set it, or 0.' }),
    frequencyPenalty: t.exposeFloat('frequency_penalty', { description: 'As the request set it, or 0.' }),
    reasoningEffort: t.string({
      nullable: true,
      description: 'How hard the model thinks; null when the request did not say.',
      resolve: ({ reasoning }) => reasoning.effort,
    }),
    reasoningSummary: t.string({
      nullable: true,
      description: 'How the thinking is told; null when the request did not say.',
      resolve: ({ reasoning }) => reasoning.summary,
    }),
    verbosity: t.string({
      nullable: true,
      description: 'How much is said; null when the request did not say.',
      resolve: ({ text }) => text.verbosity ?? null,
    }),
    format: t.field({
      type: 'JSON',
      description: 'What the text is: `type`, and the `schema` that it follows. JSON: it holds a JSON Schema.',
      resolve: ({ text }) => text.format,
    }),
    toolChoice: t.field({
      type: 'JSON',
      description: 'How the model chooses among the tools, as the request said it; default `auto`. JSON: a text or an object.',
      resolve: (request) => request.tool_choice,
    }),
    tools: t.field({
      type: 'JSON',
      description: 'The tools of the request, as it wrote them. JSON: each type has members of its own.',
      resolve: ({ tools }) => tools,
    }),
    truncation: t.exposeString('truncation', {
      description: '`disabled` refuses what is too long, `auto` leaves out the oldest turns.',
    }),
    metadata: t.field({
      type: 'StringMap',
      description: 'Texts by name, as the request gave them.',
      resolve: ({ metadata }) => metadata,
    }),
    user: t.exposeString('user', { nullable: true, description: 'The value of the request.' }),
    safetyIdentifier: t.exposeString('safety_identifier', { nullable: true, description: 'The value of the request.' }),
    promptCacheKey: t.exposeString('prompt_cache_key', { nullable: true, description: 'The value of the request.' }),
  }),
});

export function requestIn(head: ResponseHead | undefined): ResponseEcho | null {
  return head === undefined ? null : echoIn(head);
}
