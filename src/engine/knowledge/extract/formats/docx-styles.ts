import type { Archive } from '../archive.ts';
import { attribute } from '../xml.ts';

/** What a paragraph style means for its text. */
export interface ParagraphStyle {
  /** 1 to 9 for headings; null for other paragraphs. */
  readonly level: number | null;
  readonly isTitle: boolean;
  readonly isList: boolean;
  /** Lines of a contents list, which repeat the headings. */
  readonly isContents: boolean;
}

interface StyleEntry {
  name: string;
  basedOn: string | undefined;
  outlineLevel: number | undefined;
  isList: boolean;
}

/** Styles by id. Levels are inherited from the style that a style is based on. */
export async function readStyles(archive: Archive, part: string): Promise<ReadonlyMap<string, ParagraphStyle>> {
  const entries = new Map<string, StyleEntry>();
  let style: StyleEntry | undefined;
  await archive.xml(part, {
    open(name, attributes) {
      if (name === 'style') {
        style = { name: '', basedOn: undefined, outlineLevel: undefined, isList: false };
        entries.set(attribute(attributes, 'styleId') ?? '', style);
      } else if (style === undefined) return;
      else if (name === 'name') style.name = attribute(attributes, 'val') ?? '';
      else if (name === 'basedOn') style.basedOn = attribute(attributes, 'val');
      else if (name === 'outlineLvl') style.outlineLevel = Number(attribute(attributes, 'val'));
      else if (name === 'numId') style.isList = attribute(attributes, 'val') !== '0';
    },
    close(name) {
      if (name === 'style') style = undefined;
    },
  });
  return new Map([...entries].map(([id, entry]) => [id, styleOf(entry, entries)]));
}

const chainMax = 20;

function styleOf(entry: StyleEntry, entries: ReadonlyMap<string, StyleEntry>): ParagraphStyle {
  let level: number | null = null;
  let current: StyleEntry | undefined = entry;
  for (let step = 0; step < chainMax && current !== undefined && level === null; step += 1) {
    level = levelOf(current);
    current = current.basedOn === undefined || current.outlineLevel !== undefined ? undefined : entries.get(current.basedOn);
  }
  const isList = level === null && (entry.isList || /^list (?:bullet|number)/i.test(entry.name));
  return { level, isList, isTitle: /^title$/i.test(entry.name), isContents: /^(?:toc \d|table of figures)$/i.test(entry.name) };
}

/** Built-in styles have English names in every language; an outline level of 9 is body text. */
function levelOf({ name, outlineLevel }: StyleEntry): number | null {
  if (outlineLevel !== undefined) return outlineLevel >= 0 && outlineLevel < 9 ? outlineLevel + 1 : null;
  const level = /^heading ([1-9])$/i.exec(name)?.[1];
  return level === undefined ? null : Number(level);
}
