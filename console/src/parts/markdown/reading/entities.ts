/** Names of signs that models and files write; numbers work for all. */
const names: Readonly<Record<string, string>> = {
  ...{ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ', hellip: '…', mdash: '—', ndash: '–', copy: '©', reg: '®' },
  ...{ trade: '™', euro: '€', pound: '£', times: '×', divide: '÷', plusmn: '±', deg: '°', middot: '·', bull: '•', larr: '←' },
  ...{ rarr: '→', uarr: '↑', darr: '↓', harr: '↔', le: '≤', ge: '≥', ne: '≠', asymp: '≈', infin: '∞', laquo: '«', raquo: '»' },
  ...{ ldquo: '“', rdquo: '”', lsquo: '‘', rsquo: '’', bdquo: '„', sect: '§', para: '¶', szlig: 'ß' },
  ...{ auml: 'ä', ouml: 'ö', uuml: 'ü', Auml: 'Ä', Ouml: 'Ö', Uuml: 'Ü', eacute: 'é', egrave: 'è', agrave: 'à', ccedil: 'ç' },
};

/** A text with its entities as signs; `marked` leaves them as they were written. */
export function decodeEntities(text: string): string {
  if (!text.includes('&')) return text;
  return text.replaceAll(/&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|(\w{2,8}));/g, (whole, decimal, hex, name) => {
    if (name !== undefined) return Object.hasOwn(names, name) ? (names[name] ?? whole) : whole;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    const isSign = code > 0 && code <= 0x10_ff_ff && !(code >= 0xd8_00 && code <= 0xdf_ff);
    return isSign ? String.fromCodePoint(code) : whole;
  });
}
