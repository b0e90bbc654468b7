import { z } from 'zod';
import { isObject } from '../../lib/json/json.ts';
import { imageUrlRule, kindOfImageUrl } from '../ground/image-url.ts';
import {
  behaves,
  choiceByType,
  component,
  constant,
  described,
  flag,
  integer,
  isExtension,
  list,
  named,
  number,
  object,
  oneOfTexts,
  text,
} from '../ground/schema.ts';

/** Content parts of the responses format. `…Param` is what a request may hold; without it, what the service sends. */

const filePattern = /^data:[\w.+/-]*(?:;[\w=."-]+)*;base64,[A-Za-z0-9+/=\s]*$/i;
const addressPattern = /^https?:\/\/[^\s/]\S*$/i;

const invisible = flag('Whether the part is for the model only: it stays in the input items and is left out of transcripts.', {
  ...isExtension,
  ...behaves('invisible-content'),
});
/** No record of zod's: that would read every member before they are counted. */
const metadata = z
  .unknown()
  .refine(isObject, { error: 'must be an object', params: { code: 'INVALID_TYPE' }, abort: true })
  .refine((members) => isObject(members) && Object.keys(members).length <= 16, 'must have at most 16 members')
  .meta({
    type: 'object',
    additionalProperties: true,
    description: 'At most 16 members, kept and listed with the part; no model is told of them.',
    ...isExtension,
    ...behaves('part-metadata'),
  });
const detail = oneOfTexts('How closely the model looks.', ['auto', 'low', 'high', 'original'], { default: 'auto' });
const imageUrl = text('An http(s) address, or a data URL with the image in base64.').refine(
  (url) => kindOfImageUrl(url) !== undefined,
  `must be ${imageUrlRule}`,
);
const fileId = text('The id of a file of a chat of the caller.').max(200);
const fileData = text('The file as a data URL in base64.')
  .regex(filePattern, 'must be a data URL in base64')
  .meta({ pattern: '^data:' });
const fileUrl = text('An http(s) address; fetched when the request arrives.', 'must be an http(s) URL of at most 8192 characters')
  .max(8_192)
  .refine((url) => addressPattern.test(url));
const filename = text('The name of the file.', 'must be a string of at most 255 characters').max(255);

/** A list that a part came with, unread: it is kept and listed. */
const createArraySchema = (annotations: object) => described({ type: 'array', ...annotations });
const anything = (description: string) => ({ type: 'object', description, additionalProperties: true });

/** That a member says where the content is. */
const someSource = (names: readonly string[]) => (payload: z.core.ParsePayload<Readonly<Record<string, unknown>>>) => {
  const { value: input, issues } = payload;
  if (names.some((name) => input[name] !== undefined && input[name] !== null)) return;
  const message = `is required: one of ${names.join(', ')}`;
  issues.push({ code: 'custom', input, path: [names[0] ?? ''], message, params: { code: 'MISSING_REQUIRED_PARAMETER' } });
};
/** That exactly one member says where the content is. */
const oneSource = (names: readonly string[]) => (payload: z.core.ParsePayload<Readonly<Record<string, unknown>>>) => {
  const { value: input, issues } = payload;
  const [first, second] = names.filter((name) => input[name] !== undefined && input[name] !== null);
  const fault = (name: string, rule: string, code: string) => {
    issues.push({
      code: 'custom',
      input,
      path: [name],
      message: `${rule} one of ${names.join(', ')} is taken`,
      params: { code },
    });
  };
  if (first === undefined) fault(names[0] ?? '', 'is required:', 'MISSING_REQUIRED_PARAMETER');
  if (second !== undefined) fault(second, 'is too much: only', 'MUTUALLY_EXCLUSIVE_PARAMETERS');
};

const tokenMembers = {
  token: text('The token.'),
  logprob: number('The logarithm of its probability.'),
  bytes: list('Its bytes in UTF-8.', z.int().min(0).max(255).meta({ description: 'One byte.' })),
};
export const logprob = component('ResponseLogprob', 'How likely a token was.', {
  ...tokenMembers,
  top_logprobs: list('The likeliest tokens in its place; as many as `top_logprobs` asks for.', object('A token.', tokenMembers)),
});
export const urlCitation = component('UrlCitation', 'Where something in a text comes from.', {
  type: constant('url_citation'),
  start_index: integer('Where the cited place of the text starts, in UTF-16 code units.'),
  end_index: integer('Where it ends.'),
  url: text('The address of the source.'),
  title: text('The title of the source.'),
});

export const fileCitation = component(
  'FileCitation',
  'The uploaded file that something in a text comes from, found by `file_search`.',
  {
    type: constant('file_citation'),
    file_id: text('The id of the file; of the knowledge item, where the file is no file of a vector store.'),
    filename: text('The name of the file.'),
    index: integer('Where the cited place of the text starts, in UTF-16 code units.'),
  },
);
export const annotation = named('Annotation', choiceByType('Where something in a text comes from.', [urlCitation, fileCitation]));

const inputTextParam = component('InputTextParam', 'A text for the model.', {
  type: constant('input_text'),
  text: text('The text.'),
  invisible: invisible.nullish(),
  metadata: metadata.nullish(),
});
const inputImageParam = named(
  'InputImageParam',
  object('An image for the model: `image_url` or `file_id`.', {
    type: constant('input_image'),
    image_url: imageUrl.nullish(),
    file_id: fileId.nullish(),
    detail: detail.nullish(),
    invisible: invisible.nullish(),
  })
    .check(oneSource(['image_url', 'file_id']))
    .meta({ examples: [{ type: 'input_image', image_url: 'https://example.com/photo.png' }] }),
);
export const inputFileParam = named(
  'InputFileParam',
  object('A file for the model: `file_data`, `file_id` or `file_url`. What is no image is given to it as the text in it.', {
    type: constant('input_file'),
    file_data: fileData.nullish(),
    file_id: fileId.nullish(),
    file_url: fileUrl.nullish(),
    filename: filename.nullish(),
    detail: detail.nullish(),
    invisible: invisible.nullish(),
  })
    .check(oneSource(['file_data', 'file_id', 'file_url']))
    .meta({ examples: [{ type: 'input_file', filename: 'hello.txt', file_data: 'data:text/plain;base64,SGVsbG8=' }] }),
);
/** A file of the completions format. */
export const nestedFile = object('A file: `file_data` or `file_id`.', {
  file_data: fileData.nullish(),
  file_id: fileId.nullish(),
  filename: filename.nullish(),
})
  .check(oneSource(['file_data', 'file_id']))
  .meta({ examples: [{ filename: 'hello.txt', file_data: 'data:text/plain;base64,SGVsbG8=' }] });
/** What the service says of a file that a tool made; taken back as it was sent. */
const aboutFileParam = {
  mime_type: text('Its media type.').nullish(),
  filename: filename.nullish(),
  size_bytes: integer('Its size.').nullish(),
};
const outputFileParam = component('OutputFileParam', 'A file that a tool of the service made; the model is told its name.', {
  type: constant('output_file'),
  file_url: text('Its address, as it was received.').nullish(),
  file_id: fileId.nullish(),
  ...aboutFileParam,
});
const outputImageParam = named(
  'OutputImageParam',
  object('An image that a tool of the service made: `image_url` or `file_id`.', {
    type: constant('output_image'),
    image_url: imageUrl.nullish(),
    file_id: fileId.nullish(),
    ...aboutFileParam,
    invisible: invisible.nullish(),
  })
    .check(someSource(['image_url', 'file_id']))
    .meta({ examples: [{ type: 'output_image', image_url: 'https://example.com/photo.png' }] }),
);
const outputTextParam = component('OutputTextParam', 'A text that an assistant said before.', {
  type: constant('output_text'),
  text: text('The text.'),
  annotations: createArraySchema({
    items: anything('What it rests on.'),
    description: 'As they were received; kept and listed.',
  }).nullish(),
  logprobs: createArraySchema({
    items: anything('A token.'),
    description: 'As they were received; kept and listed.',
    ...isExtension,
  }).nullish(),
});
export const refusalPart = component('RefusalPart', 'What an assistant said instead of an answer.', {
  type: constant('refusal'),
  refusal: text('The text.'),
});

export const inputContentParam = named(
  'InputContentParam',
  choiceByType('A part of what a user or the developer says.', [inputTextParam, inputImageParam, inputFileParam]),
);
export const assistantContentParam = named(
  'AssistantContentParam',
  choiceByType('A part of what an assistant said.', [outputTextParam, refusalPart]),
);
export const serverToolContentParam = named(
  'ServerToolContentParam',
  choiceByType('A part of what a tool of the service gave.', [
    outputTextParam,
    outputImageParam,
    outputFileParam,
    inputTextParam,
    inputImageParam,
    inputFileParam,
  ]),
);
export type ContentParam = z.output<typeof inputContentParam | typeof assistantContentParam | typeof serverToolContentParam>;

const inputTextPart = component('InputTextPart', 'A text for the model.', {
  type: constant('input_text'),
  text: text('The text.'),
  invisible: invisible.optional(),
  metadata: metadata.optional(),
});
const inputImagePart = component('InputImagePart', 'An image for the model.', {
  type: constant('input_image'),
  image_url: imageUrl.optional(),
  file_id: fileId.optional(),
  detail,
  invisible: invisible.optional(),
});
const inputFilePart = component('InputFilePart', 'A file for the model.', {
  type: constant('input_file'),
  file_data: fileData.optional(),
  file_id: fileId.optional(),
  file_url: fileUrl.optional(),
  filename: filename.optional(),
  detail: detail.optional(),
  invisible: invisible.optional(),
});
const aboutFile = {
  file_id: fileId.meta({ description: 'The id of the chat file; absent where nothing is stored.' }).optional(),
  mime_type: text('Its media type.').optional(),
  filename: filename.optional(),
  size_bytes: integer('Its size.').optional(),
};
export const outputFilePart = component('OutputFilePart', 'A file that a tool of the service made.', {
  type: constant('output_file'),
  file_url: text('A link that works without a key for an hour, or a data URL where nothing is stored.').optional(),
  ...aboutFile,
});
export const outputImagePart = component('OutputImagePart', 'An image that a tool of the service made.', {
  type: constant('output_image'),
  image_url: imageUrl.optional(),
  ...aboutFile,
  invisible: invisible.optional(),
});
export const outputTextPart = component('OutputTextPart', 'A text of the answer.', {
  type: constant('output_text'),
  text: text('The text.'),
  annotations: list('What the text rests on, in order.', annotation),
  logprobs: list('How likely its tokens were, when the request asks and the provider tells; else empty.', logprob),
});
const assistantTextPart = component('AssistantTextPart', 'A text that an assistant said before.', {
  type: constant('output_text'),
  text: text('The text.'),
  annotations: createArraySchema({ items: anything('What it rests on.'), description: 'As they were given.' }),
  logprobs: createArraySchema({ items: anything('A token.'), description: 'As they were given.' }),
});
export const summaryTextPart = component('SummaryTextPart', 'A text of the thinking behind an answer.', {
  type: constant('summary_text'),
  text: text('The text.'),
});

export const inputContent = named(
  'InputContent',
  choiceByType('A part of what a user or the developer says.', [inputTextPart, inputImagePart, inputFilePart]),
);
export const assistantContent = named(
  'AssistantContent',
  choiceByType('A part of what an assistant said.', [assistantTextPart, refusalPart]),
);
export const serverToolContent = named(
  'ServerToolContent',
  choiceByType('A part of what a tool of the service gave.', [
    assistantTextPart,
    outputImagePart,
    outputFilePart,
    inputTextPart,
    inputImagePart,
    inputFilePart,
  ]),
);
export const outputContent = named(
  'OutputContent',
  choiceByType('A part of what the model says.', [outputTextPart, refusalPart]),
);
