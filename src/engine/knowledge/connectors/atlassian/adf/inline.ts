import { readString } from '../../../../../lib/json/json.ts';
import { loweredText, raisedText, withFraction } from '../../../extract/formats/raised.ts';
import type { AdfMark, AdfNode } from './node.ts';

const inlineTypes: ReadonlySet<string> = new Set([
  'text',
  'hardBreak',
  'mention',
  'emoji',
  'date',
  'status',
  'inlineCard',
  'mediaInline',
  'inlineExtension',
  'placeholder',
]);

export function isInline({ type }: AdfNode): boolean {
  return inlineTypes.has(type);
}

/** Of a line, what tells how a raised figure behind it is written. */
const beforeMaxChars = 30;
/** Between the raised and the lowered half of a fraction. */
const fractionStroke = /^[/⁄]$/;
/** Longer link addresses are left out: no person types them. */
const urlMaxChars = 300;

/** Inline nodes as one text. A hard break is a line feed. Marks in the text get no escapes: the Markdown is searched, not rendered. */
export function inlineText(nodes: readonly AdfNode[]): string {
  // Joined once: a paragraph of many nodes takes linear time.
  const pieces: string[] = [];
  for (const node of nodes) {
    const script = node.marks.find(({ type }) => type === 'subsup')?.attrs.type;
    // Bold and other marks end with signs of their own.
    const before = (pieces.at(-1) ?? '').slice(-beforeMaxChars).replace(/[*~`]{1,6}$/, '');
    if (script === 'sup') pieces.push(raisedText(before, node.text));
    else if (script === 'sub') {
      if (fractionStroke.test(before)) pieces.push(withFraction(pieces.splice(-2).join('')));
      pieces.push(loweredText(before, node.text));
    } else pieces.push(renderText(node));
  }
  return pieces.join('');
}

function renderText(node: AdfNode): string {
  const { type, text, attrs, marks } = node;
  switch (type) {
    case 'text':
      return marked(text, marks);
    case 'hardBreak':
      return '\n';
    case 'mention': {
      const name = readString(attrs.text) ?? 'user';
      return name.startsWith('@') ? name : `@${name}`;
    }
    case 'emoji':
      return readString(attrs.text) || readString(attrs.shortName) || '';
    case 'date':
      return toDay(attrs.timestamp);
    case 'status':
      return readString(attrs.text) ?? '';
    case 'inlineCard':
      return readString(attrs.url) ?? '';
    case 'mediaInline':
      return mediaName(node);
    case 'inlineExtension':
      return readString(attrs.text) ?? '';
    default:
      return '';
  }
}

/** The name of an image or file, which Markdown cannot show. */
export function mediaName({ attrs }: AdfNode): string {
  const name = readString(attrs.alt) || readString(attrs.__fileName) || readString(attrs.url) || '';
  return name === '' ? '' : `(file: ${name})`;
}

function toDay(timestamp: unknown): string {
  const at = new Date(Number(timestamp));
  return Number.isNaN(at.getTime()) ? '' : at.toISOString().slice(0, 10);
}

const wrappers: Readonly<Record<string, string>> = { strong: '**', em: '*', strike: '~~' };

/** Marks enclose the words and not the spaces around them. */
function marked(text: string, marks: readonly AdfMark[]): string {
  const words = text.trim();
  if (words === '' || marks.length === 0) return text;
  const begin = text.indexOf(words);
  let inner = words;
  if (marks.some(({ type }) => type === 'code')) inner = `\`${inner}\``;
  for (const { type } of marks) {
    const wrapper = wrappers[type];
    if (wrapper !== undefined) inner = `${wrapper}${inner}${wrapper}`;
  }
  const href = readString(marks.find(({ type }) => type === 'link')?.attrs.href);
  return text.slice(0, begin) + linked(inner, words, href) + text.slice(begin + words.length);
}

function linked(inner: string, words: string, href: string | undefined): string {
  if (href === undefined || href === words || href.length > urlMaxChars) return inner;
  return /^(?:https?:\/\/|mailto:)[^\s()<>]+$/i.test(href) ? `[${inner}](${href})` : inner;
}
