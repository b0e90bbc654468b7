import { z } from 'zod';
import type { FaultNotes } from '../../entities/ground/fault-notes.ts';
import type { Warning } from '../../entities/ground/warning.ts';
import { isObject, readElements } from '../../lib/json/json.ts';
import { readWire } from '../ground/read.ts';
import type { FormReading, RequestForm } from '../ground/request-form.ts';
import { readUnserved, unservedInMessages } from '../ground/unserved-members.ts';
import { type CustomTool, customTool, type SearchTool, searchTool, searchTypes } from './blocks.ts';
import { countBody, type MessagesBody, messagesBody, usualBody } from './body.ts';
import { Conversation } from './conversation.ts';

/** Reads a request of the Messages format into that of a completion. */

export const messagesForm: RequestForm = {
  schema: 'MessagesRequest',
  read: (body, faults) => readForm(body, faults, messagesBody),
};
export const countForm: RequestForm = {
  schema: 'MessagesCountRequest',
  read: (body, faults) => readForm(body, faults, countBody),
};

/** The domain checks them too, but only where nothing else is wrong: all faults are told at once. */
const secretsShape = z.record(z.string(), z.string(), 'must be an object of strings').nullish();

function readForm(body: unknown, faults: FaultNotes, schema: typeof messagesBody | typeof countBody): FormReading | undefined {
  if (!isObject(body)) {
    faults.add('', 'The body must be an object', 'INVALID_TYPE');
    return undefined;
  }
  const tools = readElements(body.tools).map((tool, index) => readTool(tool, `tools[${index}]`, faults));
  const request = (readUsual(body, schema) ?? readWire(schema, body, '', faults)) as MessagesBody | undefined;
  if (body.secrets !== undefined) readWire(secretsShape, body.secrets, 'secrets', faults);
  if (request === undefined || tools.includes(undefined)) return undefined;
  const warnings = [...readUnserved(body, unservedInMessages, faults)];
  const conversation = new Conversation(warnings);
  conversation.addSystem(request.system ?? []);
  for (const [index, message] of request.messages.entries()) conversation.add(message, `messages[${index}]`);
  if (request.cache_control !== undefined && request.cache_control !== null)
    conversation.markEnd(request.cache_control.ttl ?? '5m');
  const knownTools = tools.filter((tool) => tool !== undefined);
  const input = {
    ...toOptions(request),
    messages: conversation.messages,
    ...(knownTools.length === 0 ? {} : { tools: knownTools.map((tool) => toTool(tool, warnings)) }),
    beyond: {
      warnings,
      cachedTools: new Map(knownTools.flatMap((tool) => toMark(tool))),
      ...(request.thinking?.type === 'enabled' ? { thinkingTokens: request.thinking.budget_tokens } : {}),
    },
  };
  const hidesThoughts =
    request.thinking !== undefined &&
    request.thinking !== null &&
    request.thinking.type !== 'disabled' &&
    request.thinking.display === 'omitted';
  return { input, variables: { hidesThoughts }, toPlace: (param) => placeOf(param, conversation) };
}

/** Reads a request that has usual members only and no fault. Any other is read by the whole schema, which tells all faults. */
function readUsual(body: object, schema: z.ZodType): z.output<typeof usualBody> | undefined {
  for (const name in body) if (!Object.hasOwn(usualBody.shape, name)) return undefined;
  return schema === messagesBody ? usualBody.safeParse(body).data : undefined;
}

function toOptions(request: MessagesBody): Readonly<Record<string, unknown>> {
  const { tool_choice: choice, output_config: output, thinking } = request;
  const effort = toEffort(request);
  return {
    model: request.model,
    maxTokens: request.max_tokens,
    temperature: request.temperature,
    topP: request.top_p,
    topK: request.top_k,
    stop: request.stop_sequences,
    user: request.metadata?.user_id,
    secrets: request.secrets,
    serviceTier: request.service_tier === 'standard_only' ? 'default' : undefined,
    ...(effort === undefined ? {} : { reasoningEffort: effort }),
    ...(thinking?.type === 'disabled' ? { reasoningEffort: 'none' } : {}),
    ...(output?.format === undefined || output.format === null
      ? {}
      : { responseFormat: { type: 'json_schema', json_schema: { name: 'reply', schema: output.format.schema, strict: true } } }),
    ...(choice === undefined || choice === null
      ? {}
      : {
          toolChoice: toChoice(choice),
          ...('disable_parallel_tool_use' in choice && choice.disable_parallel_tool_use === true
            ? { parallelToolCalls: false }
            : {}),
        }),
  };
}

function toChoice(choice: NonNullable<MessagesBody['tool_choice']>): unknown {
  if (choice.type === 'any') return 'required';
  if (choice.type !== 'tool') return choice.type;
  return choice.name === 'web_search' ? { type: 'web_search' } : { type: 'function', function: { name: choice.name } };
}

/** What a budget is of the whole answer, as an effort; models that take a number get the budget itself. */
const effortShares = [
  ['minimal', 0.05],
  ['low', 0.2],
  ['medium', 0.45],
  ['high', 0.75],
] as const;

function toEffort({ output_config: output, thinking, max_tokens: cap = 0 }: MessagesBody): string | undefined {
  const effort = output?.effort ?? undefined;
  if (effort !== undefined) return effort;
  if (thinking?.type === 'adaptive') return 'high';
  if (thinking?.type !== 'enabled') return undefined;
  const share = thinking.budget_tokens / Math.max(1, cap);
  return effortShares.find(([, most]) => share <= most)?.[0] ?? 'xhigh';
}

function readTool(tool: unknown, at: string, faults: FaultNotes): CustomTool | SearchTool | undefined {
  const type = isObject(tool) ? tool.type : undefined;
  if (type === undefined || type === null || type === 'custom') return readWire(customTool, tool, at, faults);
  if (searchTypes.some((name) => name === type)) return readWire(searchTool, tool, at, faults);
  const allowed = ['custom', ...searchTypes];
  faults.add(
    `${at}.type`,
    `${at}.type must be one of ${allowed.join(', ')}: other tools of the provider are not served`,
    'UNKNOWN_TOOL_TYPE',
    {
      enum: allowed,
    },
  );
  return undefined;
}

function toTool(tool: CustomTool | SearchTool, warnings: Warning[]): object {
  if ('input_schema' in tool) {
    const { name, description, input_schema: parameters, strict, input_examples: examples } = tool;
    const exampleText = (examples ?? []).map((example) => `\nExample: ${JSON.stringify(example)}`).join('');
    const text = `${description ?? ''}${exampleText}`;
    const isStrict = typeof strict === 'boolean' ? { strict } : {};
    return { type: 'function', function: { name, description: text, parameters, ...isStrict } };
  }
  if (tool.max_uses !== undefined && tool.max_uses !== null) {
    const message = 'tools.max_uses has no effect: the service bounds the calls of a run';
    warnings.push({ code: 'option_not_supported', message, param: 'tools' });
  }
  const { allowed_domains: allowedDomains, blocked_domains: blockedDomains, user_location: userLocation } = tool;
  const hasFilters = (allowedDomains ?? blockedDomains ?? undefined) !== undefined;
  return {
    type: 'web_search',
    ...(hasFilters ? { filters: { allowedDomains, blockedDomains } } : {}),
    ...(userLocation === undefined || userLocation === null ? {} : { userLocation }),
  };
}

function toMark(tool: CustomTool | SearchTool): readonly (readonly [name: string, life: '5m' | '1h'])[] {
  const mark = tool.cache_control;
  return mark === undefined || mark === null ? [] : [[tool.name, mark.ttl ?? '5m']];
}

/** Names of the completions format as this one has them. */
const names: Readonly<Record<string, string>> = {
  maxTokens: 'max_tokens',
  maxCompletionTokens: 'max_tokens',
  topP: 'top_p',
  topK: 'top_k',
  stop: 'stop_sequences',
  user: 'metadata.user_id',
  serviceTier: 'service_tier',
  reasoningEffort: 'thinking',
  reasoning_effort: 'thinking',
  responseFormat: 'output_config.format',
  response_format: 'output_config.format',
  toolChoice: 'tool_choice',
  parallelToolCalls: 'tool_choice.disable_parallel_tool_use',
};

function placeOf(param: string, conversation: Conversation): string {
  const own = param.startsWith('input.') ? param.slice('input.'.length) : param;
  const messagePlace = /^messages\[(\d+)\](.*)$/s.exec(own);
  if (messagePlace !== null) return conversation.placeOf(Number(messagePlace[1]), messagePlace[2] ?? '') ?? own;
  const tool = /^tools\[\d+\]/.exec(own)?.[0];
  if (tool !== undefined) return own.replace('.function.parameters', '.input_schema').replace('.function', '');
  const head = /^[A-Za-z_]+/.exec(own)?.[0] ?? '';
  return `${names[head] ?? head}${own.slice(head.length)}`;
}
