import type { ModelMessage } from './port.ts';

/**
 * A model server gets no address to fetch: it may stand in a network that the user cannot reach. The service fetches images under
 * its own rules and sends them as data URLs.
 *
 * @throws Error for an image by address: its caller forgot to fetch it.
 */
export function requireInlineImages(messages: readonly ModelMessage[]): void {
  for (const { content } of messages) {
    if (content === null || typeof content === 'string') continue;
    if (content.some((part) => part.type === 'image' && !isInline(part.url)))
      throw new Error('an image by address must not reach a model server');
  }
}

/** Whether the address is a data URL. */
export function isInline(url: string): boolean {
  return /^data:/i.test(url);
}
