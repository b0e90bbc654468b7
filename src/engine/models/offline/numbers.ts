import { termsOf, wordsOfName } from './terms.ts';

const spelled: Readonly<Record<string, number>> = {
  ...{ one: 1, two: 2, three: 3, four: 4, five: 5, six: 6, seven: 7, eight: 8, nine: 9, ten: 10, eleven: 11, twelve: 12 },
  ...{ fifteen: 15, twenty: 20, thirty: 30, forty: 40, fifty: 50, sixty: 60, ninety: 90, hundred: 100 },
};
/** Words before and behind a number that may say what it counts. */
const wordsBefore = 4;
const wordsBehind = 2;

/** The numbers of a text that stand beside the words of a member's name: `years` finds the 2 of `a warranty of two years`. */
export function numbersBeside(name: string, text: string): readonly number[] {
  const wanted = new Set(termsOf(wordsOfName(name)));
  if (wanted.size === 0) return [];
  return text
    .replace(/\[\d{1,3}\]/g, ' ')
    .split(/(?<=[.!?;])\s+|\n/)
    .flatMap((sentence) => {
      const words = sentence.match(/-?\d[\d,]*(?:\.\d+)?|[\p{L}\p{N}'’-]+/gu) ?? [];
      return words.flatMap((word, index) => {
        const value = numberOf(word);
        if (value === undefined) return [];
        const around = [
          ...words.slice(Math.max(0, index - wordsBefore), index),
          ...words.slice(index + 1, index + 1 + wordsBehind),
        ];
        return termsOf(around.join(' ')).some((term) => wanted.has(term)) ? [value] : [];
      });
    });
}

function numberOf(word: string): number | undefined {
  if (/^-?\d/.test(word)) {
    const value = Number(word.replaceAll(',', ''));
    return Number.isNaN(value) ? undefined : value;
  }
  return spelled[word.toLowerCase()];
}
