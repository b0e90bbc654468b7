/** Signs that Word writes as places in a font of signs. Others of these fonts are pictures, and are left out. */
const symbolLetters = 'ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ';
const fonts: Readonly<Record<string, Readonly<Record<number, string>>>> = {
  symbol: {
    ...Object.fromEntries([...symbolLetters].map((letter, place) => [0x41 + place, letter])),
    ...Object.fromEntries([...'αβχδεφγηιϕκλμνοπθρστυϖωξψζ'].map((letter, place) => [0x61 + place, letter])),
    ...{ 163: '≤', 179: '≥', 176: '°', 177: '±', 180: '×', 184: '÷', 185: '≠', 187: '≈', 165: '∞', 183: '•' },
    ...{ 172: '←', 173: '↑', 174: '→', 175: '↓', 198: '∅', 206: '∈', 214: '√', 229: '∑', 242: '∫', 45: '−' },
    ...{ 210: '®', 211: '©', 212: '™' },
  },
  wingdings: {
    ...{ 252: '✓', 251: '✗', 253: '☒', 254: '☑', 111: '☐', 168: '☐', 167: '▪', 108: '●', 110: '■', 118: '❖', 216: '➢' },
    ...{ 223: '←', 224: '→', 225: '↑', 226: '↓', 40: '☎', 42: '✉', 74: '☺' },
  },
  'wingdings 2': { 80: '✓', 79: '✗', 82: '☑', 83: '☒', 163: '☐' },
};

/** The character of `w:sym`. @param char  four hexadecimal digits; from F000 on a place in the font. */
export function toSymbol(font: string | undefined, char: string | undefined): string {
  const code = Number.parseInt(char ?? '', 16);
  if (!Number.isInteger(code) || code < 0x20 || code > 0xffff) return '';
  const isPlace = code >= 0xf000 && code <= 0xf0ff;
  const signs = fonts[(font ?? '').toLowerCase()];
  if (signs !== undefined) return signs[isPlace ? code - 0xf000 : code] ?? '';
  // Fonts of letters are written by their places, too.
  if (isPlace) return code < 0xf07f ? String.fromCharCode(code - 0xf000) : '';
  return code >= 0xd800 && code <= 0xf8ff ? '' : String.fromCharCode(code);
}
