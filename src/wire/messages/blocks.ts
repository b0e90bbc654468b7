import { z } from 'zod';
import { kindOfImageUrl } from '../ground/image-url.ts';
import {
  choiceByType,
  closedComponent,
  constant,
  described,
  flag,
  integerRange,
  list,
  named,
  object,
  oneOfTexts,
  record,
  text,
} from '../ground/schema.ts';

/** The Messages format: content blocks and tools of a request. A member that is not listed is refused: nothing is dropped in silence. */

const blocksMax = 100_000;
const contentRule = 'must be a string or an array of content blocks';
const toolsMax = 1_000;

const cacheControl = closedComponent(
  'MessagesCacheControl',
  'Marks the end of a part of the prompt that the provider may cache.',
  {
    type: constant('ephemeral'),
    ttl: oneOfTexts('How long; `5m` by default.', ['5m', '1h']).nullish(),
  },
);
export const cached = { cache_control: cacheControl.nullish() };

/** Where it is switched on, a reply without these citations would be another one than was asked for. */
const noCitations = object('Citations of this content are not served.', {
  enabled: z
    .boolean()
    .refine(
      (isEnabled) => !isEnabled,
      'is not served: answers cite the knowledge of agents and what tools found, not this content',
    ),
}).nullish();

const webAddress = text('An http(s) address.').regex(/^https?:\/\/\S+$/i, 'must be an http or https address');
const base64 = text('The bytes in base64.').regex(/^[A-Za-z0-9+/=\s]+$/, 'must be base64');
const fileId = text('A file of the caller.').min(1).max(200);

export const textBlock = closedComponent('MessagesTextBlock', 'A text.', {
  type: constant('text'),
  text: text('The text.'),
  citations: z.array(z.unknown()).max(0, 'must be empty: only an answer cites').nullish().meta({ description: 'Null or empty.' }),
  ...cached,
});
const answerTextBlock = closedComponent('MessagesAnswerTextBlock', 'A text of an earlier answer.', {
  type: constant('text'),
  text: text('The text.'),
  citations: described({
    type: ['array', 'null'],
    items: { type: 'object' },
    description: 'As they were received. The text says what was cited: the model does not get them again.',
  }).nullish(),
  ...cached,
});
const imageBlock = closedComponent('MessagesImageBlock', 'An image.', {
  type: constant('image'),
  source: choiceByType('Where it is.', [
    closedComponent('MessagesBase64Image', 'An image in the request.', {
      type: constant('base64'),
      media_type: oneOfTexts('Its type.', ['image/jpeg', 'image/png', 'image/gif', 'image/webp']),
      data: base64,
    }),
    closedComponent('MessagesUrlImage', 'An image at an address, which the service fetches.', {
      type: constant('url'),
      url: webAddress.refine((url) => kindOfImageUrl(url) !== undefined),
    }),
    closedComponent('MessagesFileImage', 'An image among the files of the caller.', { type: constant('file'), file_id: fileId }),
  ]),
  ...cached,
});
const documentBlock = closedComponent('MessagesDocumentBlock', 'A document. The model is given the text in it.', {
  type: constant('document'),
  source: choiceByType('Where it is.', [
    closedComponent('MessagesBase64Document', 'A document in the request.', {
      type: constant('base64'),
      media_type: text('Its type, such as `application/pdf`.').regex(/^[\w.+-]+\/[\w.+-]+$/, 'must be a media type'),
      data: base64,
    }),
    closedComponent('MessagesTextDocument', 'A plain text.', {
      type: constant('text'),
      media_type: constant('text/plain'),
      data: text('The text.'),
    }),
    closedComponent('MessagesContentDocument', 'A document of blocks.', {
      type: constant('content'),
      content: z.union([z.string(), z.array(choiceByType('A part.', [textBlock, imageBlock])).max(blocksMax)], contentRule).meta({
        description: 'A text, or blocks with texts and images.',
      }),
    }),
    closedComponent('MessagesUrlDocument', 'A document at an address, which the service fetches.', {
      type: constant('url'),
      url: webAddress,
    }),
    closedComponent('MessagesFileDocument', 'A document among the files of the caller.', {
      type: constant('file'),
      file_id: fileId,
    }),
  ]),
  title: text('What it is called.').max(500).nullish(),
  context: text('What the model is told of it.').nullish(),
  citations: noCitations,
  ...cached,
});
const searchResultBlock = closedComponent('MessagesSearchResultBlock', 'Something that a search of the caller found.', {
  type: constant('search_result'),
  source: text('Where it is.'),
  title: text('What it is called.'),
  content: list('Its text.', textBlock).max(blocksMax),
  citations: noCitations,
  ...cached,
});
const thinkingBlock = closedComponent('MessagesThinkingBlock', 'A thought of an earlier answer, as it was received.', {
  type: constant('thinking'),
  thinking: text('Its text.'),
  signature: text('What its provider demands to see again.'),
});
const redactedThinkingBlock = closedComponent('MessagesRedactedThinkingBlock', 'A hidden thought, as it was received.', {
  type: constant('redacted_thinking'),
  data: text('What its provider demands to see again.'),
});
const caller = described({ type: ['object', 'null'], description: 'Who called, as it was received.' }).nullish();
const toolUseBlock = closedComponent('MessagesToolUseBlock', 'A call that an earlier answer asked for.', {
  type: constant('tool_use'),
  id: text('The id that its result refers to.').min(1),
  name: text('The tool.').min(1),
  input: record('Its arguments.'),
  caller,
  toolset_name: z.null().optional(),
  ...cached,
});
const toolResultBlock = closedComponent('MessagesToolResultBlock', 'What a call gave.', {
  type: constant('tool_result'),
  tool_use_id: text('The call.').min(1),
  content: z
    .union(
      [z.string(), z.array(choiceByType('A part.', [textBlock, imageBlock, documentBlock, searchResultBlock])).max(blocksMax)],
      contentRule,
    )
    .meta({ description: 'A text, or blocks.' })
    .nullish(),
  is_error: flag('The call failed.').nullish(),
  toolset_name: z.null().optional(),
  ...cached,
});
const serverToolUseBlock = closedComponent('MessagesServerToolUseBlock', 'A search of an earlier answer, as it was received.', {
  type: constant('server_tool_use'),
  id: text('Its id.'),
  name: constant('web_search'),
  input: record('What was searched for.'),
  caller,
  ...cached,
});
const webSearchResultBlock = closedComponent(
  'MessagesWebSearchToolResultBlock',
  'What such a search found, as it was received.',
  {
    type: constant('web_search_tool_result'),
    tool_use_id: text('The search.'),
    content: described({ description: 'Results, or an error.' }),
    caller,
    ...cached,
  },
);

export const userBlock = named(
  'MessagesUserBlock',
  choiceByType('A part of what the user says.', [textBlock, imageBlock, documentBlock, searchResultBlock, toolResultBlock]),
);
export const assistantBlock = named(
  'MessagesAssistantBlock',
  choiceByType('A part of an earlier answer.', [
    answerTextBlock,
    thinkingBlock,
    redactedThinkingBlock,
    toolUseBlock,
    serverToolUseBlock,
    webSearchResultBlock,
  ]),
);
export type UserBlock = z.output<typeof userBlock>;
export type AssistantBlock = z.output<typeof assistantBlock>;

const toolOptions = {
  strict: flag('Whether arguments must follow the schema exactly.').nullish(),
  allowed_callers: z
    .array(z.literal('direct'))
    .max(1)
    .nullish()
    .meta({ description: 'Only `["direct"]`, the default, is served.' }),
  defer_loading: z
    .literal(false, 'must be false: all tools are given to the model at once')
    .nullish()
    .meta({ description: 'Only false.' }),
  ...cached,
};
export const customTool = closedComponent('MessagesTool', 'A function of the caller.', {
  type: constant('custom').nullish(),
  name: text('1 to 64 letters, digits, `_` or `-`; unique in the request.'),
  description: text('What it does: the model chooses by it.').nullish(),
  input_schema: record('JSON Schema of the arguments.'),
  eager_input_streaming: flag('Has no effect: arguments are sent as they come.').nullish(),
  input_examples: z
    .array(z.record(z.string(), z.unknown()))
    .max(toolsMax)
    .nullish()
    .meta({ description: 'Examples of arguments; the model reads them with the description.' }),
  ...toolOptions,
});
const domains = (description: string) => z.array(z.string().max(2_000)).max(200).nullish().meta({ description });
export const searchTypes = ['web_search_20250305', 'web_search_20260209', 'web_search_20260318'] as const;
export const searchTool = closedComponent('MessagesWebSearchTool', 'The search of the web of this service.', {
  type: oneOfTexts('Its version; all are the same here.', searchTypes),
  name: constant('web_search'),
  allowed_domains: domains('Only there.'),
  blocked_domains: domains('Not there.'),
  max_uses: integerRange(1, 1_000, {
    description: 'Has no effect, with a warning: the service has a limit of its own.',
  }).nullish(),
  user_location: object('Where the user is, roughly.', {
    type: constant('approximate'),
    city: z.string().max(2_000).nullish(),
    country: z.string().max(2_000).nullish(),
    region: z.string().max(2_000).nullish(),
    timezone: z.string().max(2_000).nullish(),
  }).nullish(),
  ...toolOptions,
});
export type CustomTool = z.output<typeof customTool>;
export type SearchTool = z.output<typeof searchTool>;
