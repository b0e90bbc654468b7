import type { JsonSchema } from '../declarations.ts';
import { added, addedValues, choiceByType, constant, list, object, oneOfTexts, orNull, ref, text } from './schema.ts';

/** Items that the service sends: in the output of a response and in its events. */

export const statuses = ['in_progress', 'completed', 'incomplete'];
export const status = oneOfTexts('How far the item is.', statuses);
export const id = text('Names the item; the same in every event and list.');
export const callId = text('Joins a call and its output.');
export const name = text('The name of the tool.');
export const callError = object('Why a call failed.', {
  code: text('For programs, such as `tool_failed` or `skipped`.'),
  message: text('For a person to read.'),
});
/** A text, or parts of a kind. */
export const textOr = (parts: string, description: string): JsonSchema => ({
  description,
  anyOf: [{ type: 'string' }, { type: 'array', maxItems: 1_000, items: ref(parts) }],
});
const summary = list('The thinking in parts.', ref('SummaryTextPart'));

export const outputItemSchemas: Readonly<Record<string, JsonSchema>> = {
  OutputContent: choiceByType('A part of what the model says.', {
    output_text: 'OutputTextPart',
    refusal: 'RefusalPart',
  }),
  OutputMessage: object('What the model says.', {
    id,
    type: constant('message'),
    status,
    role: constant('assistant'),
    content: list('Its parts; empty when the item is announced.', ref('OutputContent')),
  }),
  FunctionCallItem: object('A call that the caller is asked to make.', {
    id,
    type: constant('function_call'),
    status,
    call_id: callId,
    name,
    arguments: text('The arguments as JSON text; empty when the item is announced.'),
  }),
  ReasoningItem: object('The thinking behind an answer.', { id, type: constant('reasoning'), status, summary }),
  ServerToolCall: added(
    object('A call of a tool of the service.', {
      id,
      type: constant('server_tool_call'),
      status: oneOfTexts('How far it is.', [...statuses, 'failed']),
      call_id: callId,
      name,
      arguments: text('The arguments as JSON text; empty when the item is announced.'),
    }),
  ),
  ServerToolCallOutput: added(
    object('What a tool of the service gave.', {
      id,
      type: constant('server_tool_call_output'),
      status: oneOfTexts('How the call went.', ['in_progress', 'completed', 'failed']),
      call_id: callId,
      output: textOr('ServerToolContent', 'What it gave; empty when it failed.'),
      error: orNull(callError),
    }),
  ),
  ServerToolContent: choiceByType('A part of what a tool of the service gave.', {
    output_text: 'AssistantTextPart',
    output_image: 'OutputImagePart',
    input_text: 'InputTextPart',
    input_image: 'InputImagePart',
    input_file: 'InputFilePart',
  }),
  OutputItem: addedValues(
    choiceByType('Something the model or a tool of the service did.', {
      message: 'OutputMessage',
      function_call: 'FunctionCallItem',
      reasoning: 'ReasoningItem',
      server_tool_call: 'ServerToolCall',
      server_tool_call_output: 'ServerToolCallOutput',
    }),
    ['server_tool_call', 'server_tool_call_output'],
  ),
};
