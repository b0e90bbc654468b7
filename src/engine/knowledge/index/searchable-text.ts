/** Scripts that write without spaces between words. */
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]+/gu;

/** Words that a sign joins: members of a payload, paths, addresses, names of programs. Single letters stay together: "e.g." is one word. */
const joined = /(?<=\p{L}{2})[._/\\:@=#&+|]+(?=\p{L}{2})/gu;

/**
 * Text as the text-search parser takes it. Words joined by a sign stand apart, since the parser would take `opening.monday` for the name of a
 * host and find it as a whole only. Runs of a script without spaces become overlapping pairs of characters, since the parser would
 * take a whole sentence for one word. Passages and questions go through the same function, so their pairs meet.
 */
export function searchableText(text: string): string {
  return text.replace(joined, ' ').replace(unspaced, (run) => {
    const characters = [...run];
    if (characters.length < 2) return ` ${run} `;
    const pairs = characters.slice(1).map((character, index) => `${characters[index] ?? ''}${character}`);
    return ` ${pairs.join(' ')} `;
  });
}
