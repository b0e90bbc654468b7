import { imageUrlRule, kindOfImageUrl } from './image-url.ts';
import { component, constant, text } from './schema.ts';

/** Content parts of chats that completions take too. */

export const fileIdPart = component('PromptFilePart', 'A file of a chat.', {
  type: constant('id'),
  id: text('The id of the file.'),
});
export const addressPart = component('PromptUrlPart', 'An image, or a document by its address.', {
  type: constant('url'),
  url: text('An http(s) address, or a data URL with the image in base64.', `must be ${imageUrlRule}`)
    .max(8_000_000)
    .refine((url) => kindOfImageUrl(url) !== undefined)
    .meta({ examples: ['https://example.com/photo.png'] }),
});
