import type { JsonSchema } from '../declarations.ts';
import { added, constant, flag, integer, list, number, object, oneOfTexts, orNull, record, ref, text } from './schema.ts';

/** Content parts of the responses format. `…Param` is what a request may hold; without it, what the service sends. */

const invisible = added(
  flag('Whether the part is for the model only: it stays in the input items and is left out of transcripts.'),
  'invisible-content',
);
const metadata = added(record('At most 16 members, kept and listed with the part; no model is told of them.'), 'part-metadata');
const detail = oneOfTexts('How closely the model looks.', ['auto', 'low', 'high', 'original'], { default: 'auto' });
const imageUrl = text('An http(s) address, or a data URL with the image in base64.');
const fileId = text('The id of a file of a chat of the caller.', { maxLength: 200 });
const fileData = text('The file as a data URL in base64.', { pattern: '^data:' });
const fileUrl = text('An http(s) address; fetched when the request arrives.', { maxLength: 8_192 });
const filename = text('The name of the file.', { maxLength: 255 });

const tokenMembers = {
  token: text('The token.'),
  logprob: number('The logarithm of its probability.'),
  bytes: list('Its bytes in UTF-8.', integer('One byte.', { maximum: 255 })),
};
const logprob = object('How likely a token was.', {
  ...tokenMembers,
  top_logprobs: list('The likeliest tokens in its place; as many as `top_logprobs` asks for.', object('A token.', tokenMembers)),
});

export const partSchemas: Readonly<Record<string, JsonSchema>> = {
  ResponseLogprob: logprob,
  UrlCitation: object('Where something in a text comes from.', {
    type: constant('url_citation'),
    start_index: integer('Where the cited place of the text starts, in UTF-16 code units.'),
    end_index: integer('Where it ends.'),
    url: text('The address of the source.'),
    title: text('The title of the source.'),
  }),

  InputTextParam: object('A text for the model.', {
    type: constant('input_text'),
    text: text('The text.'),
    'invisible?': orNull(invisible),
    'metadata?': orNull(metadata),
  }),
  InputImageParam: object(
    'An image for the model: `image_url` or `file_id`.',
    {
      type: constant('input_image'),
      'image_url?': orNull(imageUrl),
      'file_id?': orNull(fileId),
      'detail?': orNull(detail),
      'invisible?': orNull(invisible),
    },
    { type: 'input_image', image_url: 'https://example.com/photo.png' },
  ),
  InputFileParam: object(
    'A file for the model: `file_data`, `file_id` or `file_url`. What is no image is given to it as the text in it.',
    {
      type: constant('input_file'),
      'file_data?': orNull(fileData),
      'file_id?': orNull(fileId),
      'file_url?': orNull(fileUrl),
      'filename?': orNull(filename),
      'detail?': orNull(detail),
      'invisible?': orNull(invisible),
    },
    { type: 'input_file', filename: 'hello.txt', file_data: 'data:text/plain;base64,SGVsbG8=' },
  ),
  OutputImageParam: object(
    'An image that a tool of the service made: `image_url` or `file_id`.',
    {
      type: constant('output_image'),
      'image_url?': orNull(imageUrl),
      'file_id?': orNull(fileId),
      'mime_type?': orNull(text('Its media type.')),
      'invisible?': orNull(invisible),
    },
    { type: 'output_image', image_url: 'https://example.com/photo.png' },
  ),
  OutputTextParam: object('A text that an assistant said before.', {
    type: constant('output_text'),
    text: text('The text.'),
    'annotations?': orNull(list('As they were received; kept and listed.', record('What it rests on.'))),
    'logprobs?': orNull(added(list('As they were received; kept and listed.', record('A token.')))),
  }),
  RefusalPart: object('What an assistant said instead of an answer.', {
    type: constant('refusal'),
    refusal: text('The text.'),
  }),

  InputTextPart: object('A text for the model.', {
    type: constant('input_text'),
    text: text('The text.'),
    'invisible?': invisible,
    'metadata?': metadata,
  }),
  InputImagePart: object('An image for the model.', {
    type: constant('input_image'),
    'image_url?': imageUrl,
    'file_id?': fileId,
    detail,
    'invisible?': invisible,
  }),
  InputFilePart: object('A file for the model.', {
    type: constant('input_file'),
    'file_data?': fileData,
    'file_id?': fileId,
    'file_url?': fileUrl,
    'filename?': filename,
    'detail?': detail,
    'invisible?': invisible,
  }),
  OutputImagePart: object('An image that a tool of the service made.', {
    type: constant('output_image'),
    'image_url?': imageUrl,
    'file_id?': fileId,
    'mime_type?': text('Its media type.'),
    'invisible?': invisible,
  }),
  OutputTextPart: object('A text of the answer.', {
    type: constant('output_text'),
    text: text('The text.'),
    annotations: list('What the text rests on, in order.', ref('UrlCitation')),
    logprobs: list(
      'How likely its tokens were, when the request asks and the provider tells; else empty.',
      ref('ResponseLogprob'),
    ),
  }),
  AssistantTextPart: object('A text that an assistant said before.', {
    type: constant('output_text'),
    text: text('The text.'),
    annotations: list('As they were given.', record('What it rests on.')),
    logprobs: list('As they were given.', record('A token.')),
  }),
  SummaryTextPart: object('A text of the thinking behind an answer.', {
    type: constant('summary_text'),
    text: text('The text.'),
  }),
};
