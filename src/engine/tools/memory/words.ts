import { storableText } from '../../../lib/text/text.ts';
import { textSearchConfig } from '../../knowledge/index/language.ts';
import { searchableText } from '../../knowledge/index/searchable-text.ts';

/** A memory in the form that text search takes, with the same words as knowledge. */
export function searchWords(key: string | null, text: string): { readonly searchText: string; readonly config: string } {
  const whole = key === null ? text : `${key.replaceAll(/[_.-]+/g, ' ')} ${text}`;
  return { searchText: searchableText(storableText(whole)), config: textSearchConfig(whole) };
}

/** A question in the same form. */
export function questionWords(question: string): string {
  return searchableText(storableText(question));
}
