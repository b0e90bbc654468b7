import type { ModelMessage } from './port.ts';

/**
 * No model server is given an address to fetch: it may stand in a network that the user does not reach. Images come as data URLs, read by
 * the service under its own rules.
 *
 * @throws Error for an image by address: whoever made the request left out to read it.
 */
export function requireInlineImages(messages: readonly ModelMessage[]): void {
  for (const { content } of messages) {
    if (content === null || typeof content === 'string') continue;
    if (content.some((part) => part.type === 'image' && !isInline(part.url)))
      throw new Error('an image by address must not reach a model server');
  }
}

/** True for a data URL. */
export function isInline(url: string): boolean {
  return /^data:/i.test(url);
}
