import { findRefusal, requireAnswer } from '../../entities/conversations/runs/answer.ts';
import { publicForm, type RunItem, type RunSnapshot } from '../../entities/conversations/runs/event.ts';
import type { Usage } from '../../entities/conversations/runs/usage.ts';
import type { Citation } from '../../entities/knowledge/citation.ts';
import { hasMembers } from '../../lib/json/json.ts';
import { image, incompleteDetails, madeFile, madeMembers, toIncompleteDetails } from '../completions/reply.ts';
import { type EncoderContext, foldOfEnd, shownWarnings, type Variables, type WireReply } from '../ground/encoder.ts';
import { flowStep, toWireFlowStep } from '../ground/run-parts.ts';
import {
  always,
  behaves,
  choiceByType,
  component,
  constant,
  described,
  integer,
  isExtension,
  list,
  named,
  oneOfTexts,
  record,
  reference,
  type Sent,
  text,
  unlessEmpty,
} from '../ground/schema.ts';
import { writtenThought } from '../ground/thoughts.ts';

/** The reply of the Messages format: its schema, and its encoder from a finished run. Parts that the stream has too are exported. */

const citation = choiceByType('What a text rests on.', [
  component('MessagesSearchResultCitation', 'A passage of knowledge.', {
    type: constant('search_result_location'),
    cited_text: text('The beginning of the passage.'),
    source: text('Where to read it.'),
    title: text('The title of its document.'),
    search_result_index: integer('Which of the cited passages it is, from 0.'),
    start_block_index: integer('Always 0.'),
    end_block_index: integer('Always 1.'),
  }),
  component('MessagesWebCitation', 'A page of the web.', {
    type: constant('web_search_result_location'),
    cited_text: text('What the page says.'),
    url: text('Its address.'),
    title: text('Its title.'),
    encrypted_index: text('Always empty.'),
  }),
]);

/** A passage that an answer cites, or a page of the web: that has no item. */
export function toCitation({ knowledgeItemId, name, url, snippet, index }: Citation): Sent<typeof citation> {
  if (knowledgeItemId === '')
    return { type: 'web_search_result_location', cited_text: snippet, url, title: name, encrypted_index: '' };
  return {
    type: 'search_result_location',
    cited_text: snippet,
    source: url,
    title: name,
    search_result_index: Math.max(0, index - 1),
    start_block_index: 0,
    end_block_index: 1,
  };
}

const searchResult = component('MessagesWebSearchResult', 'A page that a search found.', {
  type: constant('web_search_result'),
  title: text('Its title.'),
  url: text('Its address.'),
  encrypted_content: text('Always empty: the service read the page itself.'),
  page_age: text('Always null.').nullable(),
});
const searchError = component('MessagesWebSearchError', 'Why a search failed.', {
  type: constant('web_search_tool_result_error'),
  error_code: constant('unavailable'),
});
const block = named(
  'MessagesContentBlock',
  choiceByType('A part of an answer.', [
    component('MessagesAnswerText', 'A text.', {
      type: constant('text'),
      text: text('The text.'),
      citations: list('What it rests on; null for nothing.', citation).nullable(),
    }),
    component('MessagesAnswerThinking', 'A thought.', {
      type: constant('thinking'),
      thinking: text('Its text.'),
      signature: text('What its provider demands to see again: give the block back as it is.'),
    }),
    component('MessagesAnswerRedactedThinking', 'A thought whose text the provider hides.', {
      type: constant('redacted_thinking'),
      data: text('What its provider demands to see again.'),
    }),
    component('MessagesAnswerToolUse', 'A call that the client is asked to make.', {
      type: constant('tool_use'),
      id: text('The id that its result refers to. One that begins with `mcpr_` waits for approval (docs/doors.md).'),
      name: text('The tool.'),
      input: record('Its arguments.'),
    }),
    component('MessagesAnswerSearch', 'A search of the web that the service made.', {
      type: constant('server_tool_use'),
      id: text('Its id.'),
      name: constant('web_search'),
      input: record('`query`.'),
    }),
    component('MessagesAnswerSearchResult', 'What it found.', {
      type: constant('web_search_tool_result'),
      tool_use_id: text('The search.'),
      content: described({
        anyOf: [
          { type: 'array', items: { $ref: '#/components/schemas/MessagesWebSearchResult' } },
          { $ref: '#/components/schemas/MessagesWebSearchError' },
        ],
        description: 'Pages, or why there are none.',
      }),
    }),
  ]),
);
type Block = Sent<typeof block>;
export const messagesUsage = component('MessagesUsage', 'Tokens, as the model counted them.', {
  input_tokens: integer('Input tokens that came from no cache.'),
  output_tokens: integer('Output tokens, thoughts included.'),
  cache_read_input_tokens: integer('Input tokens that the provider read from its cache.'),
  cache_creation_input_tokens: integer('Input tokens that it wrote to its cache.'),
});

const noUsage: Usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, reasoningTokens: 0 };

/** The format counts input of a cache apart. */
export function toMessagesUsage(usage: Usage | null): Sent<typeof messagesUsage> {
  const { inputTokens, outputTokens, cachedTokens, cacheWriteTokens = 0 } = usage ?? noUsage;
  return {
    input_tokens: Math.max(0, inputTokens - cachedTokens - cacheWriteTokens),
    output_tokens: outputTokens,
    cache_read_input_tokens: cachedTokens,
    cache_creation_input_tokens: cacheWriteTokens,
  };
}

export const stopReasons = ['end_turn', 'max_tokens', 'stop_sequence', 'tool_use', 'pause_turn', 'refusal'] as const;
const stopDetails = component('MessagesRefusal', 'Why the model declines to answer.', {
  type: constant('refusal'),
  category: text('Always null.').nullable(),
  explanation: text('The words of the model.').nullable(),
});
export const stop = {
  stop_reason: oneOfTexts('Why the answer ended.', stopReasons),
  stop_sequence: text('The text of `stop_sequences` that ended it, where the provider says; else null.').nullable(),
  stop_details: stopDetails.nullable().meta({ description: 'With `refusal`.' }),
};

/** How a run ended. `pause_turn`: a bound of the service on the time and the calls of a run; the conversation can go on. */
export function toStop(run: RunSnapshot) {
  const { output, incompleteReason, stopSequence } = run;
  const refusal = findRefusal(output);
  if (refusal !== undefined || incompleteReason === 'content_filter') return stopped('refusal', null, refusal ?? null);
  if (incompleteReason === 'max_output_tokens') return stopped('max_tokens');
  if (incompleteReason !== null) return stopped('pause_turn');
  const calls = output.filter((item) => item.type === 'function_call');
  // Some servers say that a cut answer is whole. The format has no other way to tell clients that a call must not be made.
  if (calls.some((call) => readInput(call.arguments).isCut)) return stopped('max_tokens');
  if (calls.length > 0) return stopped('tool_use');
  return stopSequence === undefined ? stopped('end_turn') : stopped('stop_sequence', stopSequence);
}

function stopped(reason: (typeof stopReasons)[number], sequence: string | null = null, explanation?: string | null) {
  const details = explanation === undefined ? null : ({ type: 'refusal', category: null, explanation } as const);
  return { stop_reason: reason, stop_sequence: sequence, stop_details: details };
}

/** What the service adds to the format at the end of an answer. */
export const endMembers = {
  incomplete_details: incompleteDetails.meta({ ...isExtension, ...behaves('incomplete-reasons') }).optional(),
  flow_steps: list('The finished steps of the flow that answered; absent where they are not shown.', flowStep)
    .meta({ ...isExtension, ...behaves('flow-steps') })
    .optional(),
  images: list('Images that tools of the service made.', image).meta(isExtension).optional(),
  files: list('Other files that tools of the service made.', madeFile)
    .meta({ ...isExtension, ...behaves('tool-files') })
    .optional(),
  warnings: list('What of the agent or the request has no effect; absent when everything has.', reference('Warning'))
    .meta({ ...isExtension, ...behaves('warnings') })
    .optional(),
};

export function toEndMembers(run: RunSnapshot, context: EncoderContext) {
  return {
    incomplete_details: toIncompleteDetails(run),
    flow_steps: unlessEmpty((run.flowSteps ?? []).map(toWireFlowStep)),
    ...madeMembers(run.output, context),
    warnings: shownWarnings(run.warnings ?? [], context),
  };
}

/** A thought, as the client gives it back. Its signature holds what the provider demands, and the text where that is not shown. */
export function toThought(item: Extract<RunItem, { readonly type: 'reasoning' }>, isHidden: boolean): Block {
  const { text: said, origin } = item;
  if (said === '') return { type: 'redacted_thinking', data: writtenThought({ text: said, ...origin }) };
  return {
    type: 'thinking',
    thinking: isHidden ? '' : said,
    signature: writtenThought({ text: isHidden ? said : '', ...origin }),
  };
}

type ServerCall = Extract<RunItem, { readonly type: 'server_tool_call' }>;

/** A search of the web that readers of the run see; undefined for other calls of tools of the service, for which the format has no blocks. */
export function toSearch({ callId, form, result, status }: ServerCall): readonly [Block, Block] | undefined {
  const shownForm = form === undefined ? undefined : publicForm(form, result);
  if (shownForm?.type !== 'web_search' || shownForm.action.type !== 'search') return undefined;
  const { query, sources = [] } = shownForm.action;
  const id = `srvtoolu_${callId}`;
  const pages = sources.map(
    ({ url, title }): Sent<typeof searchResult> => ({
      type: 'web_search_result',
      title: title ?? url,
      url,
      encrypted_content: '',
      page_age: null,
    }),
  );
  const failure: Sent<typeof searchError> = { type: 'web_search_tool_result_error', error_code: 'unavailable' };
  return [
    { type: 'server_tool_use', id, name: 'web_search', input: { query } },
    { type: 'web_search_tool_result', tool_use_id: id, content: status === 'failed' ? failure : pages },
  ];
}

const message = component('MessagesReply', 'The answer of a model or an agent. Nothing of it is kept.', {
  id: text('The id of this reply, for logs.'),
  type: always('message'),
  role: always('assistant'),
  model: text('The model as the request named it.'),
  content: list('The parts of the answer, in order.', block),
  ...stop,
  container: described({ type: 'null', description: 'Always null.' }),
  usage: messagesUsage,
  ...endMembers,
});

export function messageId(runId: string): string {
  return `msg_${runId.replace(/^[a-z]+[-_]/i, '')}`;
}

export function modelName({ input }: Variables): string {
  return (input as { readonly model: string }).model;
}

function toMessage(run: RunSnapshot, variables: Variables, context: EncoderContext): Sent<typeof message> {
  return {
    id: messageId(run.runId),
    type: 'message',
    role: 'assistant',
    model: modelName(variables),
    content: run.output.flatMap((item) => toBlocks(item, variables.hidesThoughts === true)),
    ...toStop(run),
    container: null,
    usage: toMessagesUsage(run.usage),
    ...toEndMembers(run, context),
  };
}

function toBlocks(item: RunItem, hidesThoughts: boolean): readonly Block[] {
  switch (item.type) {
    case 'message':
      return textBlocks(item.text, item.citations);
    case 'reasoning':
      return [toThought(item, hidesThoughts)];
    case 'function_call':
      return [{ type: 'tool_use', id: item.callId, name: item.name, input: readInput(item.arguments).input }];
    case 'server_tool_call':
      return toSearch(item) ?? [];
    default:
      return [];
  }
}

/** A block ends behind a marker that cites, and carries its citations. */
function textBlocks(said: string, citations: readonly Citation[]): readonly Block[] {
  const blocks: Block[] = [];
  let from = 0;
  const places = Map.groupBy(citations, ({ answerEnd }) => answerEnd);
  for (const [end, cited] of [...places].sort(([one], [other]) => one - other)) {
    blocks.push({ type: 'text', text: said.slice(from, end), citations: cited.map(toCitation) });
    from = end;
  }
  if (from < said.length) blocks.push({ type: 'text', text: said.slice(from), citations: null });
  return blocks;
}

/** The arguments of a call. Of a call that was cut these are the members that are whole, as the vendor and its client libraries give them. */
function readInput(json: string): { readonly input: Readonly<Record<string, unknown>>; readonly isCut: boolean } {
  const input = parseMembers(json);
  if (input !== undefined) return { input, isCut: false };
  const { end, isCut } = scanMembers(json);
  return { input: parseMembers(`${json.slice(0, end)}}`) ?? {}, isCut };
}

function parseMembers(json: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return hasMembers(value) ? value : {};
  } catch {
    return undefined;
  }
}

/** @returns where the last whole member of an object ends, 0 without one; and whether the text ends before the object does. */
function scanMembers(json: string): { readonly end: number; readonly isCut: boolean } {
  let depth = 0;
  let isInText = false;
  let isInValue = false;
  let end = 0;
  for (let at = 0; at < json.length; at += 1) {
    const sign = json[at] ?? '';
    if (isInText) {
      if (sign === '\\') at += 1;
      else if (sign === '"') isInText = false;
      if (isInText || depth !== 1 || !isInValue) continue;
      end = at + 1;
    } else if (sign === '"') isInText = true;
    else if (sign === '{' || sign === '[') depth += 1;
    else if (sign === '}' || sign === ']') {
      depth -= 1;
      if (depth === 1) end = at + 1;
    } else if (depth === 1 && sign === ':') isInValue = true;
    else if (depth === 1 && sign === ',') {
      end = at;
      isInValue = false;
    }
  }
  return { end, isCut: isInText || depth > 0 };
}

/** The reply in one piece. */
export const messagesReply: WireReply = {
  schema: 'MessagesReply',
  hasExtensions: true,
  fold: (variables, context) => foldOfEnd((run) => toMessage(requireAnswer(run), variables, context)),
};

const count = component('MessagesTokenCount', 'How many tokens a request has.', {
  input_tokens: integer('An estimate: the tokenizers of all models are not known.'),
});
export const countReply: WireReply = {
  schema: 'MessagesTokenCount',
  encode: (tokens: number): Sent<typeof count> => ({ input_tokens: tokens }),
};
