import { storableText } from '../../../lib/text.ts';

/** Decodes the inside of a JSON string literal to text that PostgreSQL takes. */
export function decodeLiteral(inside: string): string {
  return storableText(JSON.parse(`"${inside}"`) as string);
}
