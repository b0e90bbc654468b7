import type { Turn } from '../../../entities/knowledge/searched-question.ts';
import type { ModelMessage } from '../../models/port.ts';

/** Messages before the question that are looked at. */
const turnsMax = 12;

/** What users and the model said before the last message of a user, oldest first. */
export function turnsBefore(messages: readonly ModelMessage[]): readonly Turn[] {
  const question = messages.findLastIndex(({ role }) => role === 'user');
  return messages
    .slice(Math.max(0, question - turnsMax), Math.max(0, question))
    .flatMap((message) => (message.role === 'user' || message.role === 'assistant' ? turnOf(message) : []));
}

function turnOf({ role, content }: Extract<ModelMessage, { readonly role: 'user' | 'assistant' }>): readonly Turn[] {
  const parts =
    typeof content === 'string' ? [content] : (content ?? []).flatMap((part) => (part.type === 'text' ? [part.text] : []));
  const text = parts.join('\n');
  return text.trim() === '' ? [] : [{ role, text }];
}
