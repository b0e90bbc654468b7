import { z } from 'zod';
import { samplingMembers } from '../agents/options.ts';
import { body, maybe, ofType, streamFlag, unservedMembers, wirePart } from '../ground/body.ts';
import { identifiers } from '../ground/identifiers.ts';
import { imageUrlRule, kindOfImageUrl } from '../ground/image-url.ts';
import { addressPart, fileIdPart } from '../ground/prompt-parts.ts';
import {
  behaves,
  choiceByType,
  component,
  constant,
  described,
  describeMembers,
  flag,
  integerRange,
  isExtension,
  list,
  named,
  object,
  oneOfTexts,
  record,
  text,
  tokensMax,
} from '../ground/schema.ts';
import { unservedInCompletionMessages, unservedInCompletions } from '../ground/unserved-members.ts';
import { inputFileParam, nestedFile } from '../responses/parts.ts';
import { chatOptions, logitBias, secrets, secretsText, serviceTier, verbosity } from '../responses/request.ts';
import { toolChoiceMode, toolChoiceServerTool } from '../responses/tools.ts';

/** The chat completions format: what a request says beyond its GraphQL type. */

const detail = described({
  type: ['string', 'null'],
  description: 'How closely the model looks: low or high; anything else is auto.',
  default: 'auto',
}).optional();
const imageUrl = text('An http(s) address, or a data URL with the image in base64.').meta({
  examples: ['https://example.com/photo.png'],
});
const textPart = component('CompletionTextPart', 'A text.', {
  type: oneOfTexts('In either spelling.', ['text', 'input_text', 'output_text']),
  text: text('The text.'),
});
const refusalPart = component('CompletionRefusalPart', 'What an assistant said instead of an answer.', {
  type: constant('refusal'),
  refusal: text('The text.'),
});
const imagePart = component('CompletionImagePart', 'An image; for the role user.', {
  type: oneOfTexts('In either spelling.', ['image_url', 'input_image']),
  image_url: z
    .union([imageUrl, object('An image.', { url: imageUrl, detail })], `must be ${imageUrlRule}`)
    .refine((image) => kindOfImageUrl(typeof image === 'string' ? image : image.url) !== undefined),
  detail,
});
const filePart = component(
  'CompletionFilePart',
  'A file; for the role user. What is no image is given to the model as the text in it.',
  {
    type: constant('file'),
    file: nestedFile,
  },
);
export const contentPart = named(
  'CompletionContentPart',
  choiceByType('A part of a message.', [textPart, refusalPart, imagePart, filePart, inputFileParam, fileIdPart, addressPart]),
);

const toolChoiceFunction = component('CompletionToolChoiceFunction', 'This function must be called.', {
  type: constant('function'),
  function: object('The function.', { name: text('One of the functions of the request.') }),
});
const toolChoice = z.union([
  toolChoiceMode,
  toolChoiceFunction,
  toolChoiceServerTool,
  component('CompletionToolChoiceAllowed', 'Only these tools may be called: a hard limit.', {
    type: constant('allowed_tools'),
    allowed_tools: object('The limit.', {
      mode: oneOfTexts('Whether one of them must be called.', ['auto', 'required', 'none'], { default: 'auto' }).nullish(),
      tools: list('The tools.', z.union([toolChoiceFunction, toolChoiceServerTool])).min(1),
    }),
  }),
]);
const responseFormat = wirePart(
  'CompletionResponseFormatInput',
  'What the text of an answer is.',
  choiceByType('What the text is.', [
    component('CompletionFormatText', 'Plain text.', { type: constant('text') }),
    component('CompletionFormatJsonObject', 'A JSON object of any shape.', { type: constant('json_object') }),
    component('CompletionFormatJsonSchema', 'JSON that follows a schema.', {
      type: constant('json_schema'),
      json_schema: object('The schema.', {
        name: text('What it is called.').optional(),
        description: text('What it is for; the model reads it.').nullish(),
        schema: record('A JSON Schema.'),
        strict: flag('Whether it is followed exactly.').nullish(),
      }),
    }),
  ]),
);
const safeInteger = z.number('must be an integer').refine(Number.isSafeInteger);

const streamOptions = body('CompletionStreamOptionsInput', 'How a stream is sent over REST.', {
  includeExtensions: flag(
    'Whether the reply has what the common format does not know, such as citations that only the agent asks for.',
    { default: true, ...isExtension, ...behaves('extension-switch') },
  ).nullish(),
  includeUsage: flag('Whether a last chunk reports the tokens used.').nullish(),
});

export const toolCall = body('CompletionToolCallInput', 'A call that an earlier assistant message asked for.', {
  id: text('The id that the message with its output refers to.'),
  type: text('Always `function`.').nullish(),
  function: body('CompletionToolCallFunctionInput', 'Which function an assistant message called.', {
    name: text('The name of the function.'),
    arguments: text('Its arguments as JSON text.'),
  }).meta({ description: 'The called function.' }),
});
export const completionMessage = body('CompletionMessageInput', 'One message of the conversation so far.', {
  role: oneOfTexts('system, developer (the same), user, assistant or tool.', [
    'system',
    'developer',
    'user',
    'assistant',
    'tool',
  ]),
  content: z
    .union([z.string(), z.array(contentPart)])
    .meta({
      description:
        'A string; an array of parts; null beside tool calls. Parts: `{type: "text", text}`, `{type: "image_url", image_url: {url, detail}}`, `{type: "file", file: {file_data, file_id, filename}}`, or the `input_` spellings; `{type: "id", id}` (a file of a chat of the caller) and `{type: "url", url}` as chats take them. JSON: a text or a list.',
    })
    .nullish(),
  name: text('Who speaks, where several people or agents share a role. Providers of the OpenAI format get it.').nullish(),
  toolCalls: maybe('Calls of an assistant message, as they were received.', z.array(toolCall)),
  refusal: text('On an assistant message without content: the words with which the model declined to answer.').nullish(),
  toolCallId: text('On a message with the role tool: the call whose output this is.').nullish(),
  reasoningContent: text('What an assistant message thought; given back where the model provider takes it.').nullish(),
  reasoningDetails: maybe(
    'Thoughts of an assistant message, as they were received: what the model provider demands to see again. Each entry is JSON: it belongs to a provider.',
    z.array(z.unknown()),
  ),
  ...unservedMembers(unservedInCompletionMessages),
});

/** What a request says beside its conversation and its tools. */
export const completionOptions = z.object({
  options: maybe('Options of a chat: `{flow: {override, tracing}}`.', chatOptions),
  // Faults are told in this order.
  ...{
    maxTokens: samplingMembers.maxTokens,
    maxCompletionTokens: integerRange(1, tokensMax, { description: 'The newer name of maxTokens; it wins.' }).nullish(),
  },
  ...samplingMembers,
  stop: described<string | readonly string[]>({
    anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' }, maxItems: 16 }],
    description: 'A text, or up to 16 texts, before which the answer ends.',
  })
    .refine(
      (stop) =>
        typeof stop === 'string' || (Array.isArray(stop) && stop.length <= 16 && stop.every((one) => typeof one === 'string')),
      'must be a string or an array of at most 16 strings',
    )
    .nullish(),
  seed: safeInteger.meta({ description: 'A whole number: asks the model for the same answer again.' }).nullish(),
  n: integerRange(1, 1, { description: 'Only 1.' }).nullish(),
  logprobs: flag('Whether tokens are told with their log probabilities, by providers that have them.').nullish(),
  topLogprobs: integerRange(0, 20, { description: 'How many likely tokens are told for each position, from 0 to 20.' }).nullish(),
  logitBias: logitBias.nullish(),
  verbosity: verbosity.nullish(),
  serviceTier: serviceTier.nullish(),
  responseFormat: maybe(
    '`{type: "text"}`, `{type: "json_object"}` or `{type: "json_schema", json_schema: {name, schema, strict}}`.',
    responseFormat,
  ),
  reasoningEffort: oneOfTexts('none, minimal, low, medium, high, xhigh or max, for models that reason.', [
    'none',
    'minimal',
    'low',
    'medium',
    'high',
    'xhigh',
    'max',
  ]).nullish(),
  user: identifiers.user.nullish(),
  safetyIdentifier: identifiers.safetyIdentifier.nullish(),
  promptCacheKey: identifiers.promptCacheKey.nullish(),
});
export type ReadCompletionOptions = z.output<typeof completionOptions>;

export const completionBody = body(
  'CompletionInput',
  'A request of the common completions format. Members it does not know are ignored over REST.',
  {
    ...completionOptions.shape,
    model: text('The id of a model or of an agent.'),
    messages: z.array(completionMessage).meta({ description: 'The whole conversation so far; at least one message.' }),
    tools: maybe('What the model may call.', z.array(ofType('ToolInput', 'A tool.'))),
    toolChoice: maybe(
      '`"auto"` (the default), `"none"`, `"required"`, `{type: "function", function: {name}}`, the type of a tool of the service as `{type}`, or `{type: "allowed_tools", allowed_tools: {mode, tools}}`. JSON: a text or an object.',
      toolChoice.meta({ default: 'auto' }),
    ),
    parallelToolCalls: flag('Whether one turn of the model may have several calls.').nullish(),
    generateCitations: flag(
      "Whether the answer cites the passages it rests on. Default: the agent's setting; false for a plain model.",
    ).nullish(),
    secrets: maybe(secretsText, described({ ...secrets, ...isExtension, ...behaves('user-secrets') })),
    ...unservedMembers(unservedInCompletions),
  },
  { replyMembers: { ...streamFlag(), streamOptions: maybe('REST: how the stream is sent.', streamOptions) } },
);
describeMembers('CompletionInput', { messages: described({ minItems: 1 }) });
