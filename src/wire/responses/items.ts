import { z } from 'zod';
import { foreignItemTypes, toolItemTypes } from '../../entities/runs/response.ts';
import {
  anyOf,
  behaves,
  choice,
  choiceByType,
  component,
  constant,
  flag,
  isExtension,
  list,
  named,
  object,
  oneOfTexts,
  openComponent,
  record,
  text,
} from '../schema.ts';
import {
  assistantContent,
  assistantContentParam,
  inputContent,
  inputContentParam,
  outputContent,
  outputFilePart,
  outputImagePart,
  serverToolContent,
  serverToolContentParam,
  summaryTextPart,
} from './parts.ts';
import { toolItemParams } from './tool-items.ts';

/**
 * Items of the responses format: those that a request may hold (`…Param`), the same as they are kept and listed, in one spelling and with an
 * id, and those that the service sends in the output of a response and in its events.
 */

const statuses = ['in_progress', 'completed', 'incomplete'] as const;
const status = oneOfTexts('How far the item is.', statuses);
const id = text('Names the item; the same in every event and list.');
const callId = text('Joins a call and its output.');
const name = text('The name of the tool.');
const callError = object('Why a call failed.', {
  code: text('For programs, such as `tool_failed` or `skipped`.'),
  message: text('For a person to read.'),
});
/** A text, or parts of a kind. */
const textOr = <Parts extends z.ZodType>(parts: Parts, description: string) =>
  anyOf(description, [z.string(), z.array(parts).max(1_000)], 'must be a string or an array of content parts');

const idRule = 'must be a string of 1 to 200 characters';
const givenId = text('The id it had before; one is given when there is none.', idRule).min(1).max(200).nullish();
const args = text('The arguments as JSON text.');
const givenStatus = oneOfTexts('As it was received; `completed` when there is none.', statuses).nullish();
const ownOutputStatuses = ['success', 'error', 'cancelled'] as const;
const outputStatus = oneOfTexts('How the call went.', [...ownOutputStatuses, ...statuses], {
  'x-parley-extension-values': ownOutputStatuses,
});
const phase = oneOfTexts('Whether it was said on the way, or is the answer.', ['commentary', 'final_answer']);
const messageType = constant('message')
  .meta({ description: 'May be left out.', ...behaves('message-type-optional') })
  .optional();
const asReceived = text('As it was received.');

export const inputMessageParam = component('InputMessageParam', 'What a user or the developer says.', {
  type: messageType,
  role: oneOfTexts('Who says it; `developer` and `system` are the same.', ['user', 'system', 'developer']),
  content: textOr(inputContentParam, 'A text, or parts.'),
  id: givenId,
  status: givenStatus,
});
export const assistantMessageParam = component('AssistantMessageParam', 'What an assistant said before.', {
  type: messageType,
  role: constant('assistant'),
  content: textOr(assistantContentParam, 'A text, or parts.'),
  phase: phase.nullish(),
  id: givenId,
  status: givenStatus,
});
export const functionCallParam = component('FunctionCallParam', 'A call of a function that a model made before.', {
  type: constant('function_call'),
  call_id: callId,
  name,
  arguments: args,
  id: givenId,
  status: status.nullish(),
  approval: flag('Whether the call waited for approval, as it was received.', isExtension).nullish(),
});
export const mcpApprovalRequestParam = component(
  'McpApprovalRequestParam',
  'A call of a tool that waited for approval, as it was received.',
  {
    type: constant('mcp_approval_request'),
    id: text('The id of the request.', idRule).min(1).max(200),
    server_label: text('The label of the server; `parley` for tools of the service and of the agent.'),
    name: text('The name of the tool.'),
    arguments: args,
  },
);
export const mcpApprovalResponseParam = component('McpApprovalResponseParam', 'The answer to a call that waits for approval.', {
  type: constant('mcp_approval_response'),
  approval_request_id: text('The id of the request.', idRule).min(1).max(200),
  approve: flag('Whether the call is made.'),
  reason: text('Why; the model reads it when the call is refused.').nullish(),
  id: givenId,
});
export const functionCallOutputParam = component('FunctionCallOutputParam', 'What a function of the caller gave.', {
  type: constant('function_call_output'),
  call_id: callId,
  output: textOr(inputContentParam, 'A text, or parts.'),
  id: givenId,
  status: outputStatus.nullish(),
});
const reasoningParam = component(
  'ReasoningParam',
  'Thinking of a model, as it was received; kept and listed, no model is told of it.',
  {
    type: constant('reasoning'),
    summary: list('The thinking in parts.', record('Such as `{"type": "summary_text", "text": …}`.')),
    id: givenId,
    content: list('Its text.', record('A content part.')).nullish(),
    encrypted_content: asReceived.nullish(),
    status: asReceived.nullish(),
  },
);
export const itemReferenceParam = component(
  'ItemReferenceParam',
  'An item of an earlier response of the caller; it is put in this place.',
  { type: constant('item_reference').nullish(), id: text('The id of the item.', idRule).min(1).max(200) },
);
export const compactionParam = component(
  'CompactionParam',
  'What the compact operation answered: it stands for a conversation.',
  { type: constant('compaction'), encrypted_content: asReceived, id: givenId, status: asReceived.nullish() },
);
export const serverToolCallParam = component(
  'ServerToolCallParam',
  'A call of a tool of the service, as it was received.',
  {
    type: constant('server_tool_call'),
    call_id: callId,
    name,
    arguments: args,
    id: givenId,
    status: oneOfTexts('How the call went.', [...statuses, 'failed']).nullish(),
  },
  isExtension,
);
export const serverToolCallOutputParam = component(
  'ServerToolCallOutputParam',
  'What a tool of the service gave, as it was received.',
  {
    type: constant('server_tool_call_output'),
    call_id: callId,
    output: textOr(serverToolContentParam, 'A text, or parts.'),
    id: givenId,
    status: oneOfTexts('How the call went.', ['completed', 'failed']).nullish(),
    error: callError.nullish(),
  },
  isExtension,
);
const foreignItemParam = openComponent(
  'ForeignItemParam',
  'An item of a tool that this service does not have; kept and listed, no model is told of it.',
  { type: oneOfTexts('The kind of item.', foreignItemTypes), id: givenId },
);
/** What is read of an item that no model is told of. */
export const storedItemParam = z.looseObject({ type: z.string(), id: givenId });
// Not a choice of exactly one: a message may come without its type, and then an open kind would fit too.
named(
  'InputItemParam',
  anyOf('Something the model is given.', [
    inputMessageParam,
    assistantMessageParam,
    functionCallParam,
    functionCallOutputParam,
    mcpApprovalRequestParam,
    mcpApprovalResponseParam,
    reasoningParam,
    itemReferenceParam,
    compactionParam,
    serverToolCallParam,
    serverToolCallOutputParam,
    ...Object.values(toolItemParams),
    foreignItemParam,
  ]),
);

const outputMessage = component('OutputMessage', 'What the model says.', {
  id,
  type: constant('message'),
  status,
  role: constant('assistant'),
  content: list('Its parts; empty when the item is announced.', outputContent),
});
const functionCallItem = component('FunctionCallItem', 'A call that the caller is asked to make.', {
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
  summary: list('The thinking in parts.', summaryTextPart),
});
const serverToolCall = component(
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
const serverToolCallOutput = component(
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

export const inputMessage = component('InputMessage', 'What a user or the developer says.', {
  id,
  type: constant('message'),
  status,
  role: oneOfTexts("The role of the message's author.", ['user', 'system', 'developer']),
  content: list('What is said.', inputContent),
});
const assistantMessage = component('AssistantMessage', 'What an assistant said.', {
  id,
  type: constant('message'),
  status,
  role: constant('assistant'),
  content: list('What was said.', assistantContent),
  phase: phase.optional(),
});
const functionCallOutputItem = component('FunctionCallOutputItem', 'What a function of the caller gave.', {
  id,
  type: constant('function_call_output'),
  status: outputStatus,
  call_id: callId,
  output: textOr(inputContent, 'As it was given.'),
});
export const compactionItem = component('CompactionItem', 'What stands for a conversation.', {
  id,
  type: constant('compaction'),
  status,
  encrypted_content: text('Notes of the conversation; give them back as they are.'),
});
const keptItem = openComponent('KeptItem', 'An item that is kept as it was given.', {
  id,
  type: oneOfTexts('The kind of item.', ['reasoning', ...toolItemTypes, ...foreignItemTypes]),
});
export const inputItem = named(
  'InputItem',
  choice('An item that a response was given.', [
    inputMessage,
    assistantMessage,
    functionCallItem,
    functionCallOutputItem,
    compactionItem,
    serverToolCall,
    serverToolCallOutput,
    keptItem,
  ]),
);
