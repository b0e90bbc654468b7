import { storableText } from '../../../lib/text.ts';

/** The text of a literal's inside, as it can be stored. */
export function decodeLiteral(inside: string): string {
  return storableText(JSON.parse(`"${inside}"`) as string);
}
