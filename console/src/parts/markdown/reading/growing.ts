/** The beginning of a line that may still become another block: a rule, an item, a heading, a fence, a tag, a definition. */
const undecidedLine = /^[ \t]{0,3}(?:[-*_=+#>`~:$\s]*|\d{1,9}[.)]?[ \t]*|<\/?[a-z]{0,8}|\[[^\]\n]{0,40}\]?:?)$/i;
/** The head of a table without the line below it that makes it one. */
const tableHead = /(?:^|\n\n)[ \t]*\|[^\n]*(?:\n[ \t]*\|?[-:| \t]*)?$/;

/** The part of a text that is still being written in which no block flashes up as another one. */
export function withoutUndecided(text: string): string {
  const lineStart = text.lastIndexOf('\n') + 1;
  const decidedText = undecidedLine.test(text.slice(lineStart)) ? text.slice(0, lineStart) : text;
  const tail = decidedText.slice(-2_000);
  const match = tableHead.exec(tail);
  return match === null ? decidedText : decidedText.slice(0, decidedText.length - tail.length + match.index);
}
