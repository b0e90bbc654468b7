import { withoutUnseenMarks } from '../../../lib/text/text.ts';

/** Scripts that write without spaces between words. */
const unspacedScript =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]+/gu;

/** Words that a sign joins: members of a payload, paths, addresses, names of programs. Single letters stay joined: "e.g." is one word. */
const wordJoiners = /(?<=\p{L}{2})[._/\\:@=#&+|]+(?=\p{L}{2})/gu;

/**
 * Text in the form that the text-search parser needs. Words joined by a sign are separated, because the parser takes `opening.monday` for a host
 * name and finds it only as a whole. Text without spaces becomes overlapping pairs of characters, because the parser takes a whole sentence for one
 * word. Passages and questions both go through this function, so their words match.
 */
export function searchableText(text: string): string {
  return withoutUnseenMarks(text)
    .replace(wordJoiners, ' ')
    .replace(unspacedScript, (run) => {
      const characters = [...run];
      if (characters.length < 2) return ` ${run} `;
      const pairs = characters.slice(1).map((character, index) => `${characters[index] ?? ''}${character}`);
      return ` ${pairs.join(' ')} `;
    });
}
