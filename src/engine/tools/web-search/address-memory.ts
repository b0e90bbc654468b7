import type { ModelMessage } from '../../models/port.ts';

const addressPattern = /https?:\/\/[^\s<>"'`\\^{}|]+/gi;
const addressesMax = 20_000;

/**
 * The addresses that a run may open: those that its conversation names, that its searches found, and that its pages link to. A text that a stranger
 * planted can make the model write any address, with what the conversation says in it; such an address is in none of these places.
 */
export class AddressMemory {
  readonly #known = new Set<string>();

  /** @param messages  of the run: what was said before it. Those of the model itself do not count. */
  constructor(messages: readonly ModelMessage[]) {
    for (const { role, content } of messages) {
      // A model that was misled may have written any address.
      if (role === 'assistant') continue;
      if (typeof content === 'string') this.addText(content);
      else for (const part of content ?? []) if (part.type === 'text') this.addText(part.text);
    }
  }

  has(url: URL): boolean {
    return this.#known.has(toKey(url));
  }

  add(address: string): void {
    const url = URL.parse(address);
    if (url !== null && this.#known.size < addressesMax) this.#known.add(toKey(url));
  }

  /** Every address in a text, with and without what may be punctuation behind it. */
  addText(text: string): void {
    for (const [address] of text.matchAll(addressPattern)) {
      this.add(address);
      this.add(address.replace(/(?<![.,;:!?)\]}*_])[.,;:!?)\]}*_]+$/, ''));
    }
  }
}

/** The part behind `#` never leaves this process, and `http` may become `https`. */
function toKey(url: URL): string {
  return `${url.host}${url.pathname}${url.search}`;
}
