const begins = /^\s*BEGIN:(?:VCALENDAR|VCARD)\s*$/im;
/** What a search finds as one: an event, a task, a person. */
const entry = /^BEGIN:(?:VEVENT|VTODO|VJOURNAL|VCARD)$/i;

/** Whether a text is a calendar (iCalendar, RFC 5545) or holds address cards (vCard, RFC 6350 and version 2.1). */
export function isContentLines(text: string): boolean {
  return begins.exec(text.slice(0, 200))?.index === 0;
}

/**
 * A calendar, or address cards, with whole words: lines are folded in the middle of words, and values have escapes. Pictures and the rules of time zones
 * are left out. An entry is a paragraph.
 */
export function readContentLines(text: string): string {
  const lines: string[] = [];
  let isTimeZone = false;
  for (const line of unfolded(text)) {
    if (/^BEGIN:VTIMEZONE$/i.test(line)) isTimeZone = true;
    else if (/^END:VTIMEZONE$/i.test(line)) isTimeZone = false;
    else if (!isTimeZone) {
      const value = readLine(line);
      if (value !== undefined) lines.push(entry.test(value) ? `\n${value}` : value);
    }
  }
  return lines.join('\n').trim();
}

/** Lines as they were before they were folded at 75 bytes. */
function unfolded(text: string): readonly string[] {
  const lines: string[][] = [];
  // Of the line that is being put together: whether its value is written in quoted-printable, and whether its last piece says that it goes on.
  let isQuoted = false;
  let goesOn = false;
  for (const line of text.split(/\r\n|\r|\n/)) {
    const last = lines.at(-1);
    if (last !== undefined && goesOn) last.push(line);
    else if (last !== undefined && /^[ \t]/.test(line)) last.push(line.slice(1));
    else if (line.trim() !== '') {
      lines.push([line]);
      isQuoted = isQuotedPrintable(line);
    }
    goesOn = isQuoted && line.endsWith('=');
    const pieces = lines.at(-1);
    if (goesOn && pieces !== undefined) pieces.push((pieces.pop() ?? '').slice(0, -1));
  }
  return lines.map((pieces) => pieces.join('').trimEnd());
}

/** @returns undefined for a line that holds no words. */
function readLine(line: string): string | undefined {
  const colon = valueStart(line);
  if (colon === -1) return line;
  const head = line.slice(0, colon);
  const value = line.slice(colon + 1);
  if (/;(?:ENCODING=)?(?:B|BASE64)(?:;|$)/i.test(head) || /^data:[^,]{0,100};base64,/i.test(value)) return undefined;
  if (!isQuotedPrintable(line)) return `${head}:${unescaped(value)}`;
  const shownHead = head.replace(/;(?:ENCODING=QUOTED-PRINTABLE|CHARSET=[^;]{0,40})/gi, '');
  return `${shownHead}:${unescaped(decodeQuotedPrintable(value, head))}`;
}

/** Where the name and its parameters end, whose values may hold colons in quotes. */
function valueStart(line: string): number {
  let isQuoted = false;
  for (let at = 0; at < line.length; at += 1) {
    if (line[at] === '"') isQuoted = !isQuoted;
    else if (line[at] === ':' && !isQuoted) return at;
  }
  return -1;
}

function unescaped(value: string): string {
  return value.replace(/\\([nN,;\\])/g, (_whole, sign: string) => (sign === 'n' || sign === 'N' ? '\n' : sign));
}

function isQuotedPrintable(line: string): boolean {
  return /^[^:]{0,500};(?:ENCODING=)?QUOTED-PRINTABLE[;:]/i.test(line);
}

function decodeQuotedPrintable(value: string, head: string): string {
  const bytes: number[] = [];
  for (let at = 0; at < value.length; at += 1) {
    const code = /^=([0-9a-f]{2})/i.exec(value.slice(at, at + 3))?.[1];
    if (code === undefined) bytes.push(...Buffer.from(value[at] ?? ''));
    else {
      bytes.push(Number.parseInt(code, 16));
      at += 2;
    }
  }
  const isUtf8 = /;CHARSET="?UTF-?8/i.test(head);
  return Buffer.from(bytes)
    .toString(isUtf8 ? 'utf8' : 'latin1')
    .replace(/\r\n?/g, '\n');
}
