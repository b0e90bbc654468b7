/** A cue says what is spoken from one time to another. */
interface Cue {
  readonly startMs: number;
  readonly endMs: number;
  readonly speaker: string;
  readonly lines: readonly string[];
}

const timing =
  /^(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2})[,.](\d{1,3})[ \t]{1,20}-->[ \t]{1,20}(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2})[,.](\d{1,3})/;
const webVtt = /^WEBVTT(?=[ \t\n]|$)/;
/** A pause that begins a new paragraph. */
const pauseMs = 3_000;
/** A paragraph ends with the first sentence that ends beyond the first length, at the latest beyond the second. */
const paragraphChars = 200;
const paragraphMaxChars = 600;

/** Whether a text holds subtitles: WebVTT, or SRT, whose first line is a number and whose second is a time. */
export function isSubtitles(text: string): boolean {
  const head = text.slice(0, 400).replace(/\r\n?/g, '\n').trimStart();
  if (webVtt.test(head)) return true;
  const [first = '', second = ''] = head.split('\n', 2);
  return /^\d{1,9}[ \t]*$/.test(first) && timing.test(second);
}

/** What is spoken, in paragraphs that each begin with their time, `[0:01:30]`, and with the speaker where subtitles name one. */
export function readSubtitles(text: string): string {
  const paragraphs: string[] = [];
  let words: string[] = [];
  let length = 0;
  let previous: Cue | undefined;
  let shownLines: readonly string[] = [];
  const end = () => {
    if (length > 0) paragraphs.push(words.join(' '));
    words = [];
    length = 0;
  };
  for (const cue of readCues(text)) {
    // Captions that roll show lines again.
    const lines = cue.lines.filter((line) => !shownLines.includes(line));
    shownLines = cue.lines;
    const isAnother = cue.speaker !== (previous?.speaker ?? '');
    const pause = cue.startMs - (previous?.endMs ?? cue.startMs);
    previous = cue;
    if (lines.length === 0) continue;
    const isSentenceEnd = /[.!?…。！？]["'”»)\]]?$/.test(words.at(-1) ?? '');
    if (isAnother || pause >= pauseMs || (length > paragraphChars && isSentenceEnd) || length > paragraphMaxChars) end();
    if (length === 0) words.push(`[${toClock(cue.startMs)}]`, ...(cue.speaker === '' ? [] : [`${cue.speaker}:`]));
    words.push(...lines);
    length += lines.reduce((sum, line) => sum + line.length + 1, 0);
  }
  end();
  return paragraphs.join('\n\n');
}

/** Blocks stand between blank lines. A block without a time is a note, a style or a region. */
function* readCues(text: string): Generator<Cue> {
  const lines = text.split(/\r\n|\r|\n/);
  for (let at = 0; at < lines.length; at += 1) {
    const times = timing.exec(lines[at] ?? '');
    if (times === null) continue;
    const spoken: string[] = [];
    for (at += 1; at < lines.length && lines[at]?.trim() !== '' && !timing.test(lines[at] ?? ''); at += 1)
      spoken.push(lines[at] ?? '');
    // A cue that follows without a blank line has its number above its time.
    if (at < lines.length && timing.test(lines[at] ?? '')) {
      if (/^\d{1,9}$/.test(spoken.at(-1)?.trim() ?? '')) spoken.pop();
      at -= 1;
    }
    const said = spoken.join('\n');
    const speaker = /<v(?:\.[^\s>]{1,100})?[ \t]([^>]{1,200})>/.exec(said)?.[1] ?? '';
    const shown = said
      .split('\n')
      .map(withoutMarks)
      .filter((line) => line !== '');
    yield { startMs: toMs(times, 1), endMs: toMs(times, 5), speaker: unescaped(speaker).trim(), lines: shown };
  }
}

function toMs(times: RegExpExecArray, from: number): number {
  const [hours = 0, minutes = 0, seconds = 0] = [0, 1, 2].map((place) => Number(times[from + place] ?? 0));
  return ((hours * 60 + minutes) * 60 + seconds) * 1_000 + Number((times[from + 3] ?? '0').padEnd(3, '0'));
}

function toClock(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  const two = (number: number) => String(number).padStart(2, '0');
  return `${Math.floor(seconds / 3_600)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
}

/** A line without what makes it bold, colored or placed. */
function withoutMarks(line: string): string {
  return unescaped(line.replace(/<\/?(?:[a-z][^<>]{0,300}|\d[\d:.]{0,20})>|\{\\[^{}]{0,100}\}/gi, ''))
    .replace(/\s+/g, ' ')
    .trim();
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', nbsp: ' ', lrm: '', rlm: '' };

function unescaped(text: string): string {
  return text.replace(/&(amp|lt|gt|quot|nbsp|lrm|rlm);/g, (_whole, name: string) => entities[name] ?? '');
}
