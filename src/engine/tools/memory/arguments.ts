import { memoryKeyMaxChars } from '../../../entities/conversations/memory.ts';
import { oneLine } from '../../../lib/text/text.ts';
import { limitedText, readArguments, wrongArguments } from '../arguments.ts';

const questionMaxChars = 1_000;

/** @throws DomainError that tells the model what is wrong. */
export function readRemember(args: string, textMaxChars: number): { readonly text: string; readonly key: string | null } {
  const argumentFields = readArguments(args);
  const text = limitedText(argumentFields.text, 'text', textMaxChars).trim();
  if (text === '') throw wrongArguments('text must be a string that is not blank');
  const key =
    argumentFields.key === undefined || argumentFields.key === null
      ? ''
      : oneLine(limitedText(argumentFields.key, 'key', memoryKeyMaxChars));
  return { text, key: key === '' ? null : key };
}

/** @throws DomainError that tells the model what is wrong. */
export function readRecall(args: string): string {
  const { query } = readArguments(args);
  return query === undefined || query === null ? '' : limitedText(query, 'query', questionMaxChars).trim();
}

/** @throws DomainError that tells the model what is wrong. */
export function readForget(args: string): string {
  const id = limitedText(readArguments(args).id, 'id', 100).trim();
  if (id === '') throw wrongArguments('id must be the id of a memory, as recall answers it');
  return id;
}
