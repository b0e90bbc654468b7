import { z } from 'zod';
import { publicOutput, type RunItem, type TokenLogprob } from '../../entities/conversations/runs/event.ts';
import {
  type CallForm,
  type FileSearchResult,
  type ListedTool,
  type OutputFile,
  ownServerLabel,
} from '../../entities/conversations/runs/tool.ts';
import type { Citation } from '../../entities/knowledge/citation.ts';
import {
  anyOf,
  behaves,
  choiceByType,
  component,
  constant,
  isExtension,
  list,
  named,
  object,
  oneOfTexts,
  record,
  type Sent,
  text,
} from '../ground/schema.ts';
import { writtenThought } from '../ground/thoughts.ts';
import {
  type annotation,
  outputContent,
  outputFilePart,
  outputImagePart,
  type outputTextPart,
  type refusalPart,
  serverToolContent,
  summaryTextPart,
} from './parts.ts';

/** Items that the service sends in the output of a response and in its events: their schemas, and their encoder from the items of a run. */

export const statuses = ['in_progress', 'completed', 'incomplete'] as const;
export const status = oneOfTexts('How far the item is.', statuses);
export const id = text('Names the item; the same in every event and list.');
export const callId = text('Joins a call and its output.');
export const name = text('The name of the tool.');
export const callError = object('Why a call failed.', {
  code: text('For programs, such as `tool_failed` or `skipped`.'),
  message: text('For a person to read.'),
});
/** A text, or parts of a kind. */
export const textOr = <Parts extends z.ZodType>(parts: Parts, description: string) =>
  anyOf(description, [z.string(), z.array(parts).max(1_000)], 'must be a string or an array of content parts');

const outputMessage = component('OutputMessage', 'What the model says.', {
  id,
  type: constant('message'),
  status,
  role: constant('assistant'),
  content: list('Its parts; empty when the item is announced.', outputContent),
});
export const functionCallItem = component('FunctionCallItem', 'A call that the caller is asked to make.', {
  id,
  type: constant('function_call'),
  status,
  call_id: callId,
  name,
  arguments: text('The arguments as JSON text; empty when the item is announced.'),
  approval: z
    .literal(true)
    .meta({
      description:
        'The tool runs in the service and waits for a person: an output with status `success` approves the call, `cancelled` refuses it.',
      ...isExtension,
    })
    .optional(),
});
const reasoningItem = component('ReasoningItem', 'The thinking behind an answer.', {
  id,
  type: constant('reasoning'),
  status,
  summary: list('The thinking in parts; empty where the provider hides it.', summaryTextPart),
  encrypted_content: text(
    'With `include: ["reasoning.encrypted_content"]`: the thought with what its provider demands to see again. Give the item back as it is.',
  ).optional(),
});
export const serverToolCall = component(
  'ServerToolCall',
  'A call of a tool of the service.',
  {
    id,
    type: constant('server_tool_call'),
    status: oneOfTexts('Its status.', [...statuses, 'failed']),
    call_id: callId,
    name,
    arguments: text('The arguments as JSON text; empty when the item is announced.'),
  },
  isExtension,
);
export const serverToolCallOutput = component(
  'ServerToolCallOutput',
  'What a tool of the service gave.',
  {
    id,
    type: constant('server_tool_call_output'),
    status: oneOfTexts('How the call went.', ['in_progress', 'completed', 'failed']),
    call_id: callId,
    output: textOr(serverToolContent, 'What it gave; empty when it failed.'),
    error: callError.nullable(),
  },
  isExtension,
);
const callStatus = oneOfTexts('Its status.', [...statuses, 'failed']);
const webSearchCall = component('WebSearchCall', 'A search of the web, or a page of it that was read.', {
  id,
  type: constant('web_search_call'),
  status: callStatus,
  action: choiceByType('What was done.', [
    component('WebSearchActionSearch', 'A search.', {
      type: constant('search'),
      query: text('What was searched for.'),
      queries: list('The same as a list.', z.string()),
      sources: list(
        'The pages that were found; with `include: ["web_search_call.action.sources"]`.',
        object('A page.', { type: constant('url'), url: text('Its address.') }),
      ).optional(),
    }),
    component('WebSearchActionOpenPage', 'A page was read.', {
      type: constant('open_page'),
      url: text('The address of the page.'),
    }),
  ]),
});
const fileSearchCall = component('FileSearchCall', 'A search of documents.', {
  id,
  type: constant('file_search_call'),
  status: callStatus,
  queries: list('What was searched for.', z.string()),
  results: list(
    'What was found; null without `include: ["file_search_call.results"]`.',
    object('A passage.', {
      file_id: text('The id of the file; of the knowledge item, where the file is no file of a vector store.'),
      filename: text('The name of the file, or the title of the document.'),
      score: z.number().meta({ description: 'From 0 to 1, higher for a better fit.' }),
      text: text('The passage.'),
      attributes: record('Empty.'),
    }),
  ).nullable(),
});
const serverLabel = text('The name of the server in the request.');
const mcpCall = component('McpCall', 'A call of a tool of an MCP server.', {
  id,
  type: constant('mcp_call'),
  status: callStatus,
  server_label: serverLabel,
  name,
  arguments: text('The arguments as JSON text; empty when the item is announced.'),
  approval_request_id: text('The request that approved it; null for none.').nullable(),
  output: text('What the tool gave; null before it is there.').nullable(),
  error: text('Why the call failed; null for none.').nullable(),
  files: list('Files that the tool gave; absent for none.', z.union([outputImagePart, outputFilePart]))
    .meta({ ...isExtension, ...behaves('tool-files') })
    .optional(),
});
const mcpListTools = component('McpListTools', 'The tools of an MCP server.', {
  id,
  type: constant('mcp_list_tools'),
  server_label: serverLabel,
  tools: list(
    'The tools; empty when the item is announced.',
    object('A tool.', {
      name,
      description: text('What it does.').nullable(),
      input_schema: record('JSON Schema of its arguments.'),
      annotations: record('What the server says of it.').nullable(),
    }),
  ),
  error: text('Why there are none; null for none.').nullable(),
});
const mcpApprovalRequest = component(
  'McpApprovalRequest',
  'A call of a tool that waits for a person: of an MCP server, or with the label `parley` of the service or the agent.',
  {
    id,
    type: constant('mcp_approval_request'),
    server_label: serverLabel,
    name,
    arguments: text('The arguments as JSON text.'),
  },
);
export const outputItem = named(
  'OutputItem',
  choiceByType('Something the model or a tool of the service did.', [
    outputMessage,
    functionCallItem,
    reasoningItem,
    webSearchCall,
    fileSearchCall,
    mcpListTools,
    mcpCall,
    mcpApprovalRequest,
    serverToolCall,
    serverToolCallOutput,
  ]).meta({ 'x-parley-extension-values': ['server_tool_call', 'server_tool_call_output'] }),
);

/** Whether an item is an addition to the format. */
export function isAdded(item: RunItem): boolean {
  return (item.type === 'server_tool_call' && item.form === undefined) || item.type === 'server_tool_call_output';
}

/** A complete output item. @param includes  the optional members that it shows, as values of `include`. */
export function toWireItem(item: RunItem, includes: readonly string[] = []): Sent<typeof outputItem> {
  const { id: itemId } = item;
  switch (item.type) {
    case 'message':
      return { id: itemId, type: item.type, status: item.status, role: 'assistant', content: [messagePart(item)] };
    case 'reasoning':
      return toReasoning(item, includes);
    case 'function_call':
      return toFunctionCall(item);
    case 'server_tool_call': {
      if (item.form !== undefined) return formedCall(item, item.form, includes);
      const { type, status: state, callId: call, name: tool, arguments: args } = item;
      return { id: itemId, type, status: state, call_id: call, name: tool, arguments: args };
    }
    case 'server_tool_call_output': {
      const { type, status: state, callId: call, error } = item;
      return { id: itemId, type, status: state, call_id: call, output: toOutput(item), error };
    }
    case 'mcp_list_tools':
      return {
        id: itemId,
        type: item.type,
        server_label: item.serverLabel,
        tools: item.tools.map(toListedTool),
        error: item.error,
      };
  }
}

function toReasoning({ id: itemId, type, status, text: reasoningText, origin }: Item<'reasoning'>, includes: readonly string[]) {
  const isIncluded = origin !== undefined && includes.includes('reasoning.encrypted_content');
  const summary = reasoningText === '' ? [] : [toSummaryPart(reasoningText)];
  return {
    id: itemId,
    type,
    status,
    summary,
    encrypted_content: isIncluded ? writtenThought({ text: reasoningText, ...origin }) : undefined,
  };
}

/** The item in its first event, without the text of later events. */
export function toAddedItem(item: RunItem, includes: readonly string[] = []): Sent<typeof outputItem> {
  const whole = toWireItem(item, includes);
  switch (whole.type) {
    case 'mcp_approval_request':
      return whole;
    case 'mcp_list_tools':
      return { ...whole, tools: [] };
    case 'message':
      return { ...whole, status: 'in_progress', content: [] };
    case 'reasoning':
      return { ...whole, status: 'in_progress', summary: [] };
    case 'function_call':
    case 'server_tool_call':
    case 'mcp_call':
      return { ...whole, status: 'in_progress', arguments: '' };
    default:
      return { ...whole, status: 'in_progress' };
  }
}

type Item<Type extends RunItem['type']> = Extract<RunItem, { readonly type: Type }>;

/** A call that waits for approval: the format has a request of its own for it. */
export function isApprovalRequest(item: RunItem): boolean {
  return item.type === 'function_call' && item.approval === true;
}

function toFunctionCall(item: Item<'function_call'>): Sent<typeof functionCallItem | typeof mcpApprovalRequest> {
  const { type, arguments: args, form } = item;
  if (item.approval !== true)
    return { id: item.id, type, status: item.status, call_id: item.callId, name: item.name, arguments: args };
  const [server_label, tool] = form?.type === 'mcp' ? [form.serverLabel, form.tool] : [ownServerLabel, item.name];
  return { id: item.id, type: 'mcp_approval_request', server_label, name: tool, arguments: args };
}

/** A call as the item that the format has for it. */
function formedCall(
  { id: itemId, status: state, arguments: args, result, isApproved, callId: call }: Item<'server_tool_call'>,
  form: CallForm,
  includes: readonly string[],
): Sent<typeof webSearchCall | typeof fileSearchCall | typeof mcpCall> {
  switch (form.type) {
    case 'web_search': {
      const action = toWebAction(form.action, includes.includes('web_search_call.action.sources'));
      return { id: itemId, type: 'web_search_call', status: state, action };
    }
    case 'file_search': {
      const showsResults = includes.includes('file_search_call.results') && result?.isHidden !== true;
      const results = showsResults ? form.results.map(toFileResult) : null;
      return { id: itemId, type: 'file_search_call', status: state, queries: form.queries, results };
    }
    case 'mcp':
      return {
        id: itemId,
        type: 'mcp_call',
        status: state,
        server_label: form.serverLabel,
        // An approved call has the id of the request that it was approved by.
        approval_request_id: isApproved === true ? call : null,
        name: form.tool,
        arguments: args,
        output: result === undefined ? null : publicOutput(result),
        error: result?.error?.message ?? null,
        files: result?.files?.map(toFilePart),
      };
  }
}

type WebAction = Extract<CallForm, { readonly type: 'web_search' }>['action'];

function toWebAction(action: WebAction, hasSources: boolean): Sent<typeof webSearchCall>['action'] {
  if (action.type === 'open_page') return { type: action.type, url: action.url };
  const { type, query } = action;
  const sources = hasSources ? action.sources?.map(({ url }) => ({ type: 'url' as const, url })) : undefined;
  return { type, query, queries: [query], sources };
}

function toFileResult({ fileId, filename, score, text: passage }: FileSearchResult) {
  return { file_id: fileId, filename, score, text: passage, attributes: {} };
}

function toListedTool({ name: tool, description, inputSchema, annotations }: ListedTool) {
  return { name: tool, description, input_schema: inputSchema, annotations };
}

/** The text; with the images that the call made, an array of parts. */
function toOutput(item: Item<'server_tool_call_output'>): Sent<typeof serverToolCallOutput>['output'] {
  const { files = [] } = item;
  const output = publicOutput(item);
  if (files.length === 0) return output;
  return [...(output === '' ? [] : [textPart(output, [])]), ...files.map(toFilePart)];
}

function toFilePart({ fileId, filename, mimeType, sizeBytes, url }: OutputFile) {
  const about = { file_id: fileId ?? undefined, mime_type: mimeType, filename, size_bytes: sizeBytes };
  return mimeType.startsWith('image/')
    ? { type: 'output_image' as const, image_url: url, ...about }
    : { type: 'output_file' as const, file_url: url, ...about };
}

function messagePart(item: Item<'message'>): Sent<typeof outputContent> {
  return item.isRefusal === true ? toRefusalPart(item.text) : textPart(item.text, item.citations, item.logprobs);
}

export function toRefusalPart(refusal: string): Sent<typeof refusalPart> {
  return { type: 'refusal', refusal };
}

export function toSummaryPart(thought: string): Sent<typeof summaryTextPart> {
  return { type: 'summary_text', text: thought };
}

/** Many clients refuse a text without `annotations`. */
export function textPart(
  whole: string,
  citations: readonly Citation[],
  logprobs: readonly TokenLogprob[] = [],
): Sent<typeof outputTextPart> {
  return { type: 'output_text', text: whole, annotations: citations.map(toAnnotation), logprobs };
}

/** What a search found in an uploaded file is cited by the file; everything else by its address. */
export function toAnnotation({ answerStart, answerEnd, url, name: title, fileId }: Citation): Sent<typeof annotation> {
  if (fileId !== undefined) return { type: 'file_citation', file_id: fileId, filename: title, index: answerStart };
  return { type: 'url_citation', start_index: answerStart, end_index: answerEnd, url, title };
}
