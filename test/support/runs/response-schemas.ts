import { z } from 'zod';

/**
 * The Open Responses format as strict schemas: an extra member fails like a missing one, so a new member needs a line here. `conversation`, `user`,
 * `selection_metadata`, `error.type` and `error.param` are members that Parley adds to the schema of 2026-04-24; they are required, because clients
 * of Parley may rely on them.
 */

const count = z.int().min(0);
const seconds = z.int().min(1_600_000_000).max(4_000_000_000);
const id = z.string().min(1);

export const annotation = z.strictObject({
  type: z.literal('url_citation'),
  start_index: count,
  end_index: count,
  url: z.string(),
  title: z.string(),
});
export const outputText = z.strictObject({
  type: z.literal('output_text'),
  text: z.string(),
  annotations: z.array(annotation),
  logprobs: z.array(z.never()),
});
const refusal = z.strictObject({ type: z.literal('refusal'), refusal: z.string() });
const inputText = z.strictObject({ type: z.literal('input_text'), text: z.string() });
const summaryText = z.strictObject({ type: z.literal('summary_text'), text: z.string() });

const status = z.enum(['in_progress', 'completed', 'incomplete']);
const message = z.strictObject({
  type: z.literal('message'),
  id,
  status,
  role: z.enum(['user', 'assistant', 'system', 'developer']),
  content: z.array(z.discriminatedUnion('type', [inputText, outputText, refusal])),
  phase: z.enum(['commentary', 'final_answer']).optional(),
});
const functionCall = z.strictObject({
  type: z.literal('function_call'),
  id,
  status,
  call_id: id,
  name: id,
  arguments: z.string(),
});
const reasoning = z.strictObject({ type: z.literal('reasoning'), id, status, summary: z.array(summaryText) });
const compaction = z.strictObject({ type: z.literal('compaction'), id, status, encrypted_content: z.string().min(1) });
/** An output item of a run without tools of the service. */
export const outputItem = z.discriminatedUnion('type', [message, functionCall, reasoning]);

const functionTool = z.strictObject({
  type: z.literal('function'),
  name: id,
  description: z.string().nullable(),
  parameters: z.record(z.string(), z.unknown()).nullable(),
  strict: z.boolean().nullable(),
});
const functionChoice = z.strictObject({ type: z.literal('function'), name: id });
const choiceValue = z.enum(['none', 'auto', 'required']);
const toolChoice = z.union([
  choiceValue,
  functionChoice,
  z.strictObject({ type: z.literal('allowed_tools'), tools: z.array(functionChoice), mode: choiceValue }),
]);
const textFormat = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text') }),
  z.strictObject({ type: z.literal('json_object') }),
  z.strictObject({
    type: z.literal('json_schema'),
    name: id,
    description: z.string().nullable(),
    schema: z.record(z.string(), z.unknown()),
    strict: z.boolean(),
  }),
]);
export const usage = z
  .strictObject({
    input_tokens: count,
    input_tokens_details: z.strictObject({ cached_tokens: count }),
    output_tokens: count,
    output_tokens_details: z.strictObject({ reasoning_tokens: count }),
    total_tokens: count,
    // An extension: `estimated-usage`.
    estimated: z.literal(true).optional(),
  })
  .refine((all) => all.total_tokens === all.input_tokens + all.output_tokens, 'total_tokens is the sum');
const selection = z.strictObject({
  provider: z.string(),
  model: z.string(),
  fallback_chain: z.array(z.strictObject({ provider: z.string(), model: z.string(), reason: z.string() })),
  latency_hints: z.strictObject({ queue_ms: z.number().min(0), first_token_ms: z.number().min(0).nullable() }),
});
export const errorTypes = ['server_error', 'invalid_request', 'not_found', 'model_error', 'too_many_requests'] as const;
const errorType = z.enum(errorTypes);
const code = z.string().regex(/^[a-z_]+$/);

export const response = z.strictObject({
  id: z.string().startsWith('resp_'),
  object: z.literal('response'),
  created_at: seconds,
  completed_at: seconds.nullable(),
  status: z.enum(['in_progress', 'completed', 'failed', 'incomplete', 'cancelled']),
  error: z.strictObject({ code, message: z.string().min(1), type: errorType, param: z.null() }).nullable(),
  incomplete_details: z
    .strictObject({ reason: z.enum(['max_output_tokens', 'content_filter', 'paused', 'max_tool_calls', 'timeout']) })
    .nullable(),
  instructions: z.string().nullable(),
  max_output_tokens: count.nullable(),
  max_tool_calls: count.nullable(),
  model: z.string().min(1),
  output: z.array(outputItem),
  parallel_tool_calls: z.boolean(),
  previous_response_id: z.string().nullable(),
  conversation: z.strictObject({ id }).nullable(),
  reasoning: z.strictObject({
    effort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']).nullable(),
    summary: z.enum(['auto', 'concise', 'detailed']).nullable(),
  }),
  store: z.boolean(),
  background: z.boolean(),
  temperature: z.number(),
  top_p: z.number(),
  presence_penalty: z.number(),
  frequency_penalty: z.number(),
  top_logprobs: count,
  text: z.strictObject({ format: textFormat, verbosity: z.enum(['low', 'medium', 'high']).optional() }),
  tool_choice: toolChoice,
  tools: z.array(functionTool),
  truncation: z.enum(['auto', 'disabled']),
  service_tier: z.string(),
  metadata: z.record(z.string(), z.string()),
  user: z.string().nullable(),
  safety_identifier: z.string().nullable(),
  prompt_cache_key: z.string().nullable(),
  usage: usage.nullable(),
  selection_metadata: selection.nullable(),
});

export const compactionObject = z.strictObject({
  id,
  object: z.literal('response.compaction'),
  created_at: seconds,
  output: z.array(z.discriminatedUnion('type', [message, compaction])).min(1),
  usage,
});

const sequence = { sequence_number: count };
const state = <const Type extends string>(type: Type) => z.strictObject({ type: z.literal(type), ...sequence, response });
const item = <const Type extends string>(type: Type) =>
  z.strictObject({ type: z.literal(type), ...sequence, output_index: count, item: outputItem });
const within = <const Type extends string, Members extends z.ZodRawShape>(type: Type, members: Members) =>
  z.strictObject({ type: z.literal(type), ...sequence, item_id: id, output_index: count, ...members });
const content = { content_index: count };
const summary = { summary_index: count };
const logprobs = z.array(z.never());
const errorPayload = z.strictObject({ type: errorType, code, message: z.string().min(1), param: z.string().nullable() });
/** Both shapes at once: the members of one of the format's schemas at the top, those of the other one under `error`. */
const errorMembers = { type: z.literal('error'), code, message: z.string(), param: z.string().nullable(), error: errorPayload };

/** Every event of a run without tools of the service. */
export const streamingEvent = z.discriminatedUnion('type', [
  state('response.created'),
  state('response.in_progress'),
  state('response.completed'),
  state('response.failed'),
  state('response.incomplete'),
  item('response.output_item.added'),
  item('response.output_item.done'),
  within('response.content_part.added', { ...content, part: z.discriminatedUnion('type', [outputText, refusal]) }),
  within('response.content_part.done', { ...content, part: z.discriminatedUnion('type', [outputText, refusal]) }),
  within('response.refusal.delta', { ...content, delta: z.string().min(1) }),
  within('response.refusal.done', { ...content, refusal: z.string() }),
  within('response.output_text.delta', { ...content, delta: z.string().min(1), logprobs }),
  within('response.output_text.annotation.added', { ...content, annotation_index: count, annotation }),
  within('response.output_text.done', { ...content, text: z.string(), logprobs }),
  within('response.function_call_arguments.delta', { delta: z.string().min(1) }),
  within('response.function_call_arguments.done', { name: id, arguments: z.string().min(2) }),
  within('response.reasoning_summary_part.added', { ...summary, part: summaryText }),
  within('response.reasoning_summary_part.done', { ...summary, part: summaryText }),
  within('response.reasoning_summary_text.delta', { ...summary, delta: z.string().min(1) }),
  within('response.reasoning_summary_text.done', { ...summary, text: z.string() }),
  z.strictObject({ ...errorMembers, ...sequence }),
]);
/** An error on a WebSocket: it answers a message and has no sequence number. */
export const socketError = z.strictObject({ ...errorMembers, status: z.int().min(400).max(599) });

/** The body of a refusal. */
export const errorReply = z.strictObject({
  error: errorPayload.extend({
    errors: z.array(z.strictObject({ message: z.string(), param: z.string(), code })).optional(),
  }),
});
export const deletedResponse = z.strictObject({ id, object: z.literal('response'), deleted: z.literal(true) });
