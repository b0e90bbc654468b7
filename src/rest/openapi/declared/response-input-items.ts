import { foreignItemTypes } from '../../../entities/runs/response.ts';
import type { JsonSchema } from '../declarations.ts';
import { callError, callId, id, name, status, statuses, textOr } from './response-output-items.ts';
import {
  added,
  addedValues,
  behaves,
  choice,
  choiceByType,
  constant,
  list,
  object,
  oneOfTexts,
  orNull,
  record,
  ref,
  text,
} from './schema.ts';

/** Items that a request may hold (`…Param`), and the same as they are kept and listed: in one spelling, with an id. */

const givenId = orNull(text('The id it had before; one is given when there is none.', { minLength: 1, maxLength: 200 }));
const args = text('The arguments as JSON text.');
const givenStatus = orNull(oneOfTexts('As it was received; `completed` when there is none.', statuses));
const outputStatuses = ['success', 'error', 'cancelled', ...statuses];
const outputStatus = addedValues(oneOfTexts('How the call went.', outputStatuses), ['success', 'error', 'cancelled']);
const phase = oneOfTexts('Whether it was said on the way, or is the answer.', ['commentary', 'final_answer']);
const messageType = { ...constant('message'), description: 'May be left out.', ...behaves('message-type-optional') };

export const inputItemParams: Readonly<Record<string, JsonSchema>> = {
  InputContentParam: choiceByType('A part of what a user or the developer says.', {
    input_text: 'InputTextParam',
    input_image: 'InputImageParam',
    input_file: 'InputFileParam',
  }),
  AssistantContentParam: choiceByType('A part of what an assistant said.', {
    output_text: 'OutputTextParam',
    refusal: 'RefusalPart',
  }),
  ServerToolContentParam: choiceByType('A part of what a tool of the service gave.', {
    output_text: 'OutputTextParam',
    output_image: 'OutputImageParam',
    input_text: 'InputTextParam',
    input_image: 'InputImageParam',
    input_file: 'InputFileParam',
  }),
  InputMessageParam: object('What a user or the developer says.', {
    'type?': messageType,
    role: oneOfTexts('Who says it; `developer` and `system` are the same.', ['user', 'system', 'developer']),
    content: textOr('InputContentParam', 'A text, or parts.'),
    'id?': givenId,
    'status?': givenStatus,
  }),
  AssistantMessageParam: object('What an assistant said before.', {
    'type?': messageType,
    role: constant('assistant'),
    content: textOr('AssistantContentParam', 'A text, or parts.'),
    'phase?': orNull(phase),
    'id?': givenId,
    'status?': givenStatus,
  }),
  FunctionCallParam: object('A call of a function that a model made before.', {
    type: constant('function_call'),
    call_id: callId,
    name,
    arguments: args,
    'id?': givenId,
    'status?': orNull(status),
  }),
  FunctionCallOutputParam: object('What a function of the caller gave.', {
    type: constant('function_call_output'),
    call_id: callId,
    output: textOr('InputContentParam', 'A text, or parts.'),
    'id?': givenId,
    'status?': orNull(outputStatus),
  }),
  ReasoningParam: object('Thinking of a model, as it was received; kept and listed, no model is told of it.', {
    type: constant('reasoning'),
    summary: list('The thinking in parts.', record('Such as `{"type": "summary_text", "text": …}`.')),
    'id?': givenId,
    'content?': orNull(list('Its text.', record('A content part.'))),
    'encrypted_content?': orNull(text('As it was received.')),
    'status?': orNull(text('As it was received.')),
  }),
  ItemReferenceParam: object('An item of an earlier response of the caller; it is put in this place.', {
    'type?': orNull(constant('item_reference')),
    id: text('The id of the item.', { minLength: 1, maxLength: 200 }),
  }),
  CompactionParam: object('What the compact operation answered: it stands for a conversation.', {
    type: constant('compaction'),
    encrypted_content: text('As it was received.'),
    'id?': givenId,
    'status?': orNull(text('As it was received.')),
  }),
  ServerToolCallParam: added(
    object('A call of a tool of the service, as it was received.', {
      type: constant('server_tool_call'),
      call_id: callId,
      name,
      arguments: args,
      'id?': givenId,
      'status?': orNull(oneOfTexts('How the call went.', [...statuses, 'failed'])),
    }),
  ),
  ServerToolCallOutputParam: added(
    object('What a tool of the service gave, as it was received.', {
      type: constant('server_tool_call_output'),
      call_id: callId,
      output: textOr('ServerToolContentParam', 'A text, or parts.'),
      'id?': givenId,
      'status?': orNull(oneOfTexts('How the call went.', ['completed', 'failed'])),
      'error?': orNull(callError),
    }),
  ),
  WebSearchCallParam: object('A web search, as it was received; kept and listed, no model is told of it.', {
    type: constant('web_search_call'),
    'id?': givenId,
    'status?': text('How it went.'),
    'action?': record('What was searched for: `type`, `query`, `sources`.'),
  }),
  ForeignItemParam: {
    ...object('An item of a tool that another service ran; kept and listed, no model is told of it.', {
      type: oneOfTexts('The kind of item.', foreignItemTypes),
      'id?': givenId,
    }),
    additionalProperties: true,
  },
  InputItemParam: choice('Something the model is given.', [
    'InputMessageParam',
    'AssistantMessageParam',
    'FunctionCallParam',
    'FunctionCallOutputParam',
    'ReasoningParam',
    'ItemReferenceParam',
    'CompactionParam',
    'ServerToolCallParam',
    'ServerToolCallOutputParam',
    'WebSearchCallParam',
    'ForeignItemParam',
  ]),
};

export const inputItemSchemas: Readonly<Record<string, JsonSchema>> = {
  InputContent: choiceByType('A part of what a user or the developer says.', {
    input_text: 'InputTextPart',
    input_image: 'InputImagePart',
    input_file: 'InputFilePart',
  }),
  AssistantContent: choiceByType('A part of what an assistant said.', {
    output_text: 'AssistantTextPart',
    refusal: 'RefusalPart',
  }),
  InputMessage: object('What a user or the developer says.', {
    id,
    type: constant('message'),
    status,
    role: oneOfTexts('Who says it.', ['user', 'system', 'developer']),
    content: list('What is said.', ref('InputContent')),
  }),
  AssistantMessage: object('What an assistant said.', {
    id,
    type: constant('message'),
    status,
    role: constant('assistant'),
    content: list('What was said.', ref('AssistantContent')),
    'phase?': phase,
  }),
  FunctionCallOutputItem: object('What a function of the caller gave.', {
    id,
    type: constant('function_call_output'),
    status: outputStatus,
    call_id: callId,
    output: textOr('InputContent', 'As it was given.'),
  }),
  CompactionItem: object('What stands for a conversation.', {
    id,
    type: constant('compaction'),
    status,
    encrypted_content: text('Notes of the conversation; give them back as they are.'),
  }),
  KeptItem: {
    ...object('An item that is kept as it was given.', {
      id,
      type: oneOfTexts('The kind of item.', ['reasoning', 'web_search_call', ...foreignItemTypes]),
    }),
    additionalProperties: true,
  },
  InputItem: choice('An item that a response was given.', [
    'InputMessage',
    'AssistantMessage',
    'FunctionCallItem',
    'FunctionCallOutputItem',
    'CompactionItem',
    'ServerToolCall',
    'ServerToolCallOutput',
    'KeptItem',
  ]),
};
