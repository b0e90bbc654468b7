import { incompleteReasons } from '../../../entities/runs/event.ts';
import type { JsonSchema } from '../declarations.ts';
import { added, choiceByType, constant, flag, integer, list, object, oneOfTexts, orNull, record, ref, text } from './schema.ts';

/** The chat completions format: what GraphQL calls JSON in a request, and the chunks of its stream. */

const detail = text('How closely the model looks: low or high; anything else is auto.', { default: 'auto' });
const imageUrl = text('An http(s) address, or a data URL with the image in base64.', {
  examples: ['https://example.com/photo.png'],
});
const formatSchema = object('The schema.', {
  'name?': text('What it is called.'),
  schema: record('A JSON Schema.'),
  'strict?': orNull(flag('Whether it is followed exactly.')),
});
const finish = oneOfTexts('Why the answer ended; null until it does.', ['stop', 'length', 'tool_calls', 'content_filter']);

const bounds = incompleteReasons.filter((reason) => reason !== 'content_filter' && reason !== 'paused');

const callDelta = object('A piece of a call. The first of a call names it; the others add to its arguments.', {
  index: integer('The place of the call, from 0.'),
  'id?': text('What the output refers to.'),
  'type?': constant('function'),
  function: object('What is called.', {
    'name?': text('The name of the function.'),
    arguments: text('What is added to its arguments, which are JSON text.'),
  }),
});
const delta = object('What is added to the message.', {
  'role?': { ...constant('assistant'), description: 'In the first chunk.' },
  'content?': orNull(text('A piece of text.')),
  'reasoning_content?': text('A piece of the thinking.'),
  'tool_calls?': list('A piece of a call.', callDelta),
  'annotations?': list('A source of the text.', ref('CompletionAnnotation')),
});

export const completionSchemas: Readonly<Record<string, JsonSchema>> = {
  CompletionTextPart: object('A text.', {
    type: oneOfTexts('In either spelling.', ['text', 'input_text', 'output_text']),
    text: text('The text.'),
  }),
  CompletionRefusalPart: object('What an assistant said instead of an answer.', {
    type: constant('refusal'),
    refusal: text('The text.'),
  }),
  CompletionImagePart: object('An image; for the role user.', {
    type: oneOfTexts('In either spelling.', ['image_url', 'input_image']),
    image_url: { anyOf: [imageUrl, object('An image.', { url: imageUrl, 'detail?': orNull(detail) })] },
    'detail?': orNull(detail),
  }),
  CompletionContentPart: choiceByType('A part of a message.', {
    text: 'CompletionTextPart',
    input_text: 'CompletionTextPart',
    output_text: 'CompletionTextPart',
    refusal: 'CompletionRefusalPart',
    image_url: 'CompletionImagePart',
    input_image: 'CompletionImagePart',
  }),
  CompletionToolChoiceFunction: object('This function must be called.', {
    type: constant('function'),
    function: object('The function.', { name: text('One of the functions of the request.') }),
  }),
  CompletionFormatText: object('Plain text.', { type: constant('text') }),
  CompletionFormatJsonObject: object('A JSON object of any shape.', { type: constant('json_object') }),
  CompletionFormatJsonSchema: object('JSON that follows a schema.', {
    type: constant('json_schema'),
    json_schema: formatSchema,
  }),
  CompletionChunk: object('A piece of a streamed reply.', {
    id: text('The same in all chunks.'),
    object: constant('chat.completion.chunk'),
    created: integer('Seconds since 1970; the same in all chunks.'),
    model: text('As the request named it.'),
    chatId: text('Names this exchange for logs; nothing can be fetched by it.'),
    choices: list(
      'One, but for the chunk that tells the usage, which has none.',
      object('What is added.', {
        index: integer('Always 0.'),
        delta,
        'logprobs?': { type: 'null' },
        finish_reason: orNull(finish),
      }),
    ),
    'incomplete_details?': added(
      object('With the last chunk of an answer that finishes with `length`.', {
        reason: oneOfTexts('Which bound cut it.', bounds),
      }),
      'incomplete-reasons',
    ),
    'usage?': {
      ...orNull(ref('CompletionUsage')),
      description: 'With `stream_options.include_usage`: null but in the last chunk.',
    },
  }),
  CompletionFrame: {
    description:
      'The `data` of a frame: a chunk, or the failure that ends the stream. Behind the last one stands the data `[DONE]`.',
    anyOf: [ref('CompletionChunk'), ref('Error')],
  },
};

const toolTypes = [
  'function',
  'web_search',
  'web_search_preview',
  'python',
  'code_interpreter',
  'image_generation',
  'mcp_server',
  'spreadsheet',
  'memory',
  'sandbox',
  'deep_research',
];
const tokens = { minimum: 1 };
const identifier = { maxLength: 512 };
const penalty = { minimum: -2, maximum: 2 };
const content = { anyOf: [{ type: 'string' }, { type: 'array', items: ref('CompletionContentPart') }] };

/** By schema coordinate. */
export const completionMembers: Readonly<Record<string, JsonSchema>> = {
  'Completion.incompleteDetails': added({}, 'incomplete-reasons'),
  'CompletionIncompleteDetails.reason': { enum: bounds },
  'CompletionMessageInput.role': { enum: ['system', 'developer', 'user', 'assistant', 'tool'] },
  'CompletionMessageInput.content': content,
  'CompletionFunctionInput.parameters': record('JSON Schema of the arguments; none when absent.'),
  'CompletionFunctionInput.name': { pattern: '^[A-Za-z0-9_-]{1,64}$' },
  'CompletionToolInput.type': { enum: toolTypes },
  'CompletionInput.messages': { minItems: 1 },
  'CompletionInput.options': ref('ChatOptions'),
  'CompletionInput.toolChoice': { anyOf: [ref('ToolChoiceMode'), ref('CompletionToolChoiceFunction')], default: 'auto' },
  'CompletionInput.maxTokens': tokens,
  'CompletionInput.maxCompletionTokens': tokens,
  'CompletionInput.temperature': { minimum: 0, maximum: 2 },
  'CompletionInput.topP': { minimum: 0, maximum: 1 },
  'CompletionInput.topK': { minimum: 1, maximum: 1_000 },
  'CompletionInput.frequencyPenalty': penalty,
  'CompletionInput.presencePenalty': penalty,
  'CompletionInput.stop': { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' }, maxItems: 16 }] },
  'CompletionInput.n': { minimum: 1, maximum: 1 },
  'CompletionInput.responseFormat': choiceByType('What the text is.', {
    text: 'CompletionFormatText',
    json_object: 'CompletionFormatJsonObject',
    json_schema: 'CompletionFormatJsonSchema',
  }),
  'CompletionInput.reasoningEffort': { enum: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'] },
  'CompletionInput.user': identifier,
  'CompletionInput.safetyIdentifier': identifier,
  'CompletionInput.promptCacheKey': identifier,
  'CompletionChoice.logprobs': { type: 'null' },
};
