import { z } from 'zod';
import { incompleteReasons } from '../entities/runs/event.ts';
import { toolTypeNames } from '../entities/runs/tool.ts';
import { flowStepWire } from './flow-step.ts';
import { identifiers } from './identifiers.ts';
import { imageUrlRule, kindOfImageUrl } from './image-url.ts';
import { addressPart, fileIdPart } from './prompt-parts.ts';
import { inputFileParam, nestedFile } from './responses/parts.ts';
import { chatOptions, secrets } from './responses/request.ts';
import { toolChoiceMode, toolChoiceServerTool } from './responses/tools.ts';
import {
  anyOf,
  behaves,
  choiceByType,
  component,
  constant,
  described,
  describeMembers,
  flag,
  graphqlInput,
  integer,
  integerRange,
  isExtension,
  list,
  named,
  object,
  oneOfTexts,
  range,
  record,
  reference,
  text,
  tokensMax,
} from './schema.ts';

/** The chat completions format: what a request says beyond its GraphQL type, and the chunks of the stream. */

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
const responseFormat = choiceByType('What the text is.', [
  component('CompletionFormatText', 'Plain text.', { type: constant('text') }),
  component('CompletionFormatJsonObject', 'A JSON object of any shape.', { type: constant('json_object') }),
  component('CompletionFormatJsonSchema', 'JSON that follows a schema.', {
    type: constant('json_schema'),
    json_schema: object('The schema.', {
      name: text('What it is called.').optional(),
      schema: record('A JSON Schema.'),
      strict: flag('Whether it is followed exactly.').nullish(),
    }),
  }),
]);
const toolTypes = ['function', ...toolTypeNames];
const safeInteger = z.number('must be an integer').refine(Number.isSafeInteger);
const tokens = integerRange(1, tokensMax);
const penalty = range(-2, 2);

describeMembers('CompletionMessageInput', {
  role: z.enum(['system', 'developer', 'user', 'assistant', 'tool']),
  content: z.union([z.string(), z.array(contentPart)]),
});
describeMembers('CompletionFunctionInput', {
  parameters: record('JSON Schema of the arguments; none when absent.'),
  name: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/),
});
const textsByName = described({ type: 'object', additionalProperties: { type: 'string' } });
const requireApproval = described({ anyOf: [{ type: 'boolean' }, { type: 'string' }, { type: 'object' }] });
const allowedTools = described({ anyOf: [{ type: 'array', items: { type: 'string' }, maxItems: 200 }, { type: 'object' }] });
describeMembers('EnabledTool', { requireApproval, allowedTools });
describeMembers('CompletionToolInput', {
  type: z.enum(toolTypes),
  container: described({ anyOf: [{ type: 'string' }, { type: 'object' }] }),
  requireApproval,
  allowedTools,
  headers: textsByName,
  secrets: textsByName,
});
const plain = [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }];
describeMembers('ToolSearchFiltersInput', {
  value: described({ anyOf: [...plain, { type: 'array', items: { anyOf: plain } }] }),
  filters: described({ type: 'array', items: { type: 'object' } }),
});
describeMembers('CompletionInput', {
  messages: described({ minItems: 1 }),
  toolChoice: toolChoice.meta({ default: 'auto' }),
  secrets: described({ ...secrets, ...isExtension, ...behaves('user-secrets') }),
});
describeMembers('CompletionStreamOptionsInput', {
  includeExtensions: described({ default: true, ...isExtension, ...behaves('extension-switch') }),
});

/** A request without its conversation and its tools. */
export const completionInput = graphqlInput('CompletionInput', {
  options: chatOptions,
  maxTokens: tokens,
  maxCompletionTokens: tokens,
  temperature: range(0, 2),
  topP: range(0, 1),
  topK: integerRange(1, 1_000),
  frequencyPenalty: penalty,
  presencePenalty: penalty,
  stop: described<string | readonly string[]>({
    anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' }, maxItems: 16 }],
  }).refine(
    (stop) =>
      typeof stop === 'string' || (Array.isArray(stop) && stop.length <= 16 && stop.every((one) => typeof one === 'string')),
    'must be a string or an array of at most 16 strings',
  ),
  seed: safeInteger,
  n: integerRange(1, 1),
  responseFormat,
  reasoningEffort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh']),
  ...identifiers,
});
export type ReadCompletionInput = z.output<typeof completionInput>;

const bounds = incompleteReasons.filter((reason) => reason !== 'content_filter' && reason !== 'paused');
const finishReasons = ['stop', 'length', 'tool_calls', 'content_filter'] as const;

const usage = component('CompletionUsage', 'Tokens, as the model counted them.', {
  prompt_tokens: integer('Input tokens.'),
  completion_tokens: integer('Output tokens.'),
  total_tokens: integer('Input and output tokens together.'),
  prompt_tokens_details: component('CompletionPromptTokensDetails', 'Details of the input tokens.', {
    cached_tokens: integer('Tokens that the provider read from its cache.'),
  }),
  completion_tokens_details: component('CompletionTokensDetails', 'Details of the output tokens.', {
    reasoning_tokens: integer('Tokens spent on thinking.'),
  }),
  estimated: flag(
    'True where the service estimated some of them, because a model was cut off or its provider counted nothing; absent where all are counted.',
  ).optional(),
});
const annotation = component('CompletionAnnotation', 'A citation in the form of the common format.', {
  type: constant('url_citation'),
  url_citation: component('CompletionUrlCitation', 'A place in the answer and the passage that it cites.', {
    start_index: integer('Where the marker starts in the text, UTF-16 code units.'),
    end_index: integer('Where the marker ends, UTF-16 code units.'),
    title: text('The title of the passage’s document.'),
    url: text('Where to read it.'),
  }),
});
const image = component('CompletionImage', 'An image that a tool of the service made, in the form that common routers use.', {
  type: constant('image_url'),
  image_url: component('CompletionImageUrl', 'Where an image is.', {
    url: text('A data URL, or a link that works for an hour without a key.'),
  }),
});
const madeFile = component('OutputFile', 'A file that a tool of the service made.', {
  filename: text('Its name.'),
  mime_type: text('Its media type.'),
  size_bytes: integer('Its bytes.'),
  url: text('A link that works for an hour without a key.'),
});
const toolCall = component('CompletionToolCall', 'A call that the client is asked to make.', {
  id: text('The id that the output refers to.'),
  type: constant('function'),
  function: component('CompletionFunction', 'What the model calls.', {
    name: text('The name of the function.'),
    arguments: text('Its arguments as JSON text; never empty.'),
  }),
  approval: flag(
    'True when the tool runs in the service and waits for approval: an output `{"status": "success"}` approves, `"cancelled"` refuses.',
    isExtension,
  ).optional(),
});
const message = component('CompletionMessage', "The model's answer.", {
  role: constant('assistant'),
  content: text('The text; null when there are only calls.').nullable(),
  refusal: z.null().meta({ description: 'Always null: a refusal is text.' }),
  reasoning_content: text("The model's thinking, if the model reports it.").optional(),
  tool_calls: list('Calls that the client is asked to make; absent when there are none.', toolCall).optional(),
  annotations: list('Citations; absent when there are none.', annotation).optional(),
  images: list('Images that tools of the service made; absent when there are none.', image).optional(),
  files: list('Other files that tools of the service made; absent when there are none.', madeFile)
    .meta({ ...isExtension, ...behaves('tool-files') })
    .optional(),
});
component('Completion', 'The reply to a stateless completion: nothing of it is kept.', {
  id: text('The id of this reply, for logs.'),
  object: constant('chat.completion'),
  created: integer('Seconds since 1970.'),
  model: text('The model as the request named it.'),
  choices: list(
    'The answer.',
    component('CompletionChoice', 'One answer; there is always exactly one.', {
      index: integer('Always 0.'),
      message,
      logprobs: z.null().meta({ description: 'Always null.' }),
      finish_reason: oneOfTexts('Why the answer ended.', finishReasons),
    }),
  ),
  usage,
  incomplete_details: component('CompletionIncompleteDetails', 'The limit that cut an answer whose finish reason is `length`.', {
    reason: oneOfTexts('Which limit cut it.', bounds),
  })
    .meta({ ...isExtension, ...behaves('incomplete-reasons') })
    .optional(),
  flow_steps: list('The finished steps of the flow that answered; absent where they are not shown.', flowStepWire)
    .meta({ ...isExtension, ...behaves('flow-steps') })
    .optional(),
  warnings: list('What of the agent has no effect; absent when everything has.', reference('Warning'))
    .meta({ ...isExtension, ...behaves('warnings') })
    .optional(),
  chatId: text('Opaque; different in every reply; names nothing that can be fetched.'),
});

const callDelta = object('A piece of a call. The first of a call names it; the others add to its arguments.', {
  index: integer('The place of the call, from 0.'),
  id: text('The id that the output refers to.').optional(),
  type: constant('function').optional(),
  function: object('What is called.', {
    name: text('The name of the function.').optional(),
    arguments: text('What is added to its arguments, which are JSON text.'),
  }),
  approval: flag('True when the tool runs in the service and waits for approval.', isExtension).optional(),
});
const delta = object('What is added to the message.', {
  role: constant('assistant').meta({ description: 'In the first chunk.' }).optional(),
  content: text('A piece of text.').nullish(),
  reasoning_content: text('A piece of the thinking.').optional(),
  tool_calls: list('A piece of a call.', callDelta).optional(),
  annotations: list('A source of the text.', annotation).optional(),
  images: list('In the last chunk: images that tools of the service made.', image).optional(),
  files: list('In the last chunk: other files that tools of the service made.', madeFile)
    .meta({ ...isExtension, ...behaves('tool-files') })
    .optional(),
});
const chunk = component('CompletionChunk', 'A piece of a streamed reply.', {
  id: text('The same in all chunks.'),
  object: constant('chat.completion.chunk'),
  created: integer('Seconds since 1970; the same in all chunks.'),
  model: text('The model as the request named it.'),
  chatId: text('Names this exchange for logs; nothing can be fetched by it.'),
  choices: list(
    'One, but for the chunk that tells the usage, which has none.',
    object('What is added.', {
      index: integer('Always 0.'),
      delta,
      logprobs: z.null().optional(),
      finish_reason: oneOfTexts('Why the answer ended; null until it does.', finishReasons).nullable(),
    }),
  ),
  incomplete_details: object('With the last chunk of an answer that finishes with `length`.', {
    reason: oneOfTexts('Which bound cut it.', bounds),
  })
    .meta({ ...isExtension, ...behaves('incomplete-reasons') })
    .optional(),
  flow_steps: list('With the last chunk: the finished steps of the flow that answered, where they are shown.', flowStepWire)
    .meta({ ...isExtension, ...behaves('flow-steps') })
    .optional(),
  selection_metadata: reference('ResponseSelection', 'With the last chunk: which model answered and how it was chosen.')
    .meta({ ...isExtension, ...behaves('selection-metadata') })
    .optional(),
  warnings: list('With the last chunk: what of the agent has no effect; absent when everything has.', reference('Warning'))
    .meta({ ...isExtension, ...behaves('warnings') })
    .optional(),
  usage: usage.nullish().meta({ description: 'With `stream_options.include_usage`: null but in the last chunk.' }),
});
named(
  'CompletionFrame',
  anyOf('The `data` of a frame: a chunk, or the failure that ends the stream. Behind the last one stands the data `[DONE]`.', [
    chunk,
    reference('Error'),
  ]),
);
