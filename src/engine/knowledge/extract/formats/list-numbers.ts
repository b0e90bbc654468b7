/** How numbers of lists look: the names are those of Word. Formats of other scripts are shown in decimal figures. */
export type NumberFormat = 'decimal' | 'decimalZero' | 'upperRoman' | 'lowerRoman' | 'upperLetter' | 'lowerLetter' | 'none';

/** @param format  a `NumberFormat`, or a name that a document made up. */
export function formatNumber(number: number, format: string): string {
  switch (format) {
    case 'upperRoman':
      return roman(number);
    case 'lowerRoman':
      return roman(number).toLowerCase();
    case 'upperLetter':
      return letters(number);
    case 'lowerLetter':
      return letters(number).toLowerCase();
    case 'decimalZero':
      return String(number).padStart(2, '0');
    case 'none':
      return '';
    default:
      return String(number);
  }
}

const romanSigns: readonly (readonly [number, string])[] = [
  ...([
    [1000, 'M'],
    [900, 'CM'],
    [500, 'D'],
    [400, 'CD'],
    [100, 'C'],
    [90, 'XC'],
    [50, 'L'],
  ] as const),
  ...([
    [40, 'XL'],
    [10, 'X'],
    [9, 'IX'],
    [5, 'V'],
    [4, 'IV'],
    [1, 'I'],
  ] as const),
];

function roman(number: number): string {
  if (number < 1 || number > 4_999) return String(number);
  let rest = number;
  let text = '';
  for (const [value, sign] of romanSigns) {
    for (; rest >= value; rest -= value) text += sign;
  }
  return text;
}

/** A to Z, then AA, BB: Word repeats the letter. */
function letters(number: number): string {
  if (number < 1 || number > 780) return String(number);
  return String.fromCharCode(65 + ((number - 1) % 26)).repeat(Math.ceil(number / 26));
}
