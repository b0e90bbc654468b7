import { z } from 'zod';
import { toolTypeNames } from '../../entities/conversations/runs/tool.ts';
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
  graphqlInput,
  integerRange,
  isExtension,
  list,
  named,
  object,
  oneOfTexts,
  range,
  record,
  text,
  tokensMax,
} from '../ground/schema.ts';
import { inputFileParam, nestedFile } from '../responses/parts.ts';
import { chatOptions, logitBias, secrets, serviceTier, verbosity } from '../responses/request.ts';
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
  logprobs: z.boolean(),
  topLogprobs: integerRange(0, 20),
  logitBias,
  verbosity,
  serviceTier,
  responseFormat,
  reasoningEffort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh']),
  ...identifiers,
});
export type ReadCompletionInput = z.output<typeof completionInput>;
