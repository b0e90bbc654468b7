/** Scripts that write without spaces between words. */
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]+/gu;

/**
 * Text as the text-search parser takes it: runs of a script without spaces become overlapping pairs of characters, since the parser would
 * take a whole sentence for one word. Passages and questions go through the same function, so their pairs meet.
 */
export function searchableText(text: string): string {
  return text.replace(unspaced, (run) => {
    const characters = [...run];
    if (characters.length < 2) return ` ${run} `;
    const pairs = characters.slice(1).map((character, index) => `${characters[index] ?? ''}${character}`);
    return ` ${pairs.join(' ')} `;
  });
}
