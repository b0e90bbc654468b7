import type { ModelMessage, ModelRequest } from '../port.ts';

/** The index of the message that the ending stands in: the last of a user or a tool; -1 where there is none. */
export function findEndingPlace(messages: readonly ModelMessage[]): number {
  return messages.findLastIndex(({ role }) => role === 'user' || role === 'tool');
}

/**
 * The messages of a request with its ending in them, for wires on which a message has one text. A message of its own would break servers whose
 * templates want users and assistants in turns.
 */
export function withEnding({ messages, ending }: Pick<ModelRequest, 'messages' | 'ending'>): readonly ModelMessage[] {
  if (ending === undefined) return messages;
  const place = findEndingPlace(messages);
  const message = messages[place];
  if (message?.role === 'tool') return messages.with(place, { ...message, content: joinTexts(message.content, ending) });
  if (message?.role !== 'user') return [...messages, { role: 'system', content: ending }];
  const { content } = message;
  const added = typeof content === 'string' ? joinTexts(content, ending) : [...content, { type: 'text' as const, text: ending }];
  return messages.with(place, { ...message, content: added });
}

function joinTexts(text: string, ending: string): string {
  return text === '' ? ending : `${text}\n\n${ending}`;
}
