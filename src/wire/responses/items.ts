import { z } from 'zod';
import { foreignItemTypes, toolItemTypes, type WireObject } from '../../entities/conversations/runs/response.ts';
import {
  anyOf,
  behaves,
  choice,
  component,
  constant,
  flag,
  isExtension,
  list,
  named,
  oneOfTexts,
  openComponent,
  record,
  type Sent,
  text,
} from '../ground/schema.ts';
import {
  callError,
  callId,
  functionCallItem,
  id,
  name,
  serverToolCall,
  serverToolCallOutput,
  status,
  statuses,
  textOr,
} from './output-items.ts';
import { assistantContent, assistantContentParam, inputContent, inputContentParam, serverToolContentParam } from './parts.ts';
import { toolItemParams } from './tool-items.ts';

/** Items of the responses format: those that a request may hold (`…Param`), and the same as they are kept and listed, in one spelling and with an id. */

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
  'Thinking of a model, as it was received; given back to the provider that thought it.',
  {
    type: constant('reasoning'),
    summary: list('The thinking in parts.', record('Such as `{"type": "summary_text", "text": …}`.')),
    id: givenId,
    content: list('Its text.', record('A content part.')).nullish(),
    encrypted_content: asReceived
      .meta({ description: 'What the provider demands to see again; looked up by the id when absent.' })
      .nullish(),
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

/** An item of a list, as it is stored. */
export function storedItem(item: WireObject): Sent<typeof inputItem> {
  return item as Sent<typeof inputItem>;
}
