import type { Archive } from '../../archive.ts';
import { attribute, type XmlAttributes } from '../../xml.ts';

/** What a paragraph style means for its text. */
export interface ParagraphStyle {
  readonly id: string;
  /** 1 to 9 for headings; null for other paragraphs. */
  readonly level: number | null;
  readonly isTitle: boolean;
  readonly isList: boolean;
  /** The list that numbers its paragraphs, and the level in it where the style says it. */
  readonly listId: string | undefined;
  readonly listLevel: number | undefined;
  /** Lines of a contents list, which repeat the headings. */
  readonly isContents: boolean;
}

export interface Styles {
  readonly paragraphs: ReadonlyMap<string, ParagraphStyle>;
  /** Ids of the styles, of paragraphs and of characters, that hide their text. */
  readonly hidden: ReadonlySet<string>;
  /** The style of paragraphs that name none. */
  readonly defaultParagraph: string | undefined;
}

interface StyleEntry {
  readonly id: string;
  name: string;
  basedOn: string | undefined;
  outlineLevel: number | undefined;
  isHidden: boolean | undefined;
  listId: string | undefined;
  listLevel: number | undefined;
}

/** Styles by id. What a style does not say, the style says that it is based on. */
export async function readStyles(archive: Archive, part: string): Promise<Styles> {
  const entries = new Map<string, StyleEntry>();
  let defaultParagraph: string | undefined;
  let style: StyleEntry | undefined;
  await archive.xml(part, {
    open(name, attributes) {
      const value = attribute(attributes, 'val');
      if (name === 'style') {
        const id = attribute(attributes, 'styleId') ?? '';
        style = {
          id,
          name: '',
          ...{ basedOn: undefined, outlineLevel: undefined, isHidden: undefined, listId: undefined, listLevel: undefined },
        };
        entries.set(id, style);
        const isDefault = attribute(attributes, 'default') === '1' || attribute(attributes, 'default') === 'true';
        if (isDefault && attribute(attributes, 'type') === 'paragraph') defaultParagraph = id;
      } else if (style === undefined) return;
      else if (name === 'name') style.name = value ?? '';
      else if (name === 'basedOn') style.basedOn = value;
      else if (name === 'outlineLvl') style.outlineLevel = Number(value);
      else if (name === 'numId') style.listId = value;
      else if (name === 'ilvl') style.listLevel = Math.min(8, Number(value) || 0);
      else if (name === 'vanish') style.isHidden = isOn(attributes);
    },
    close(name) {
      if (name === 'style') style = undefined;
    },
  });
  const hiddenStyles = [...entries.values()].filter((entry) => inherited(entry, entries, ({ isHidden }) => isHidden) === true);
  return {
    paragraphs: new Map([...entries].map(([id, entry]) => [id, resolveStyle(entry, entries)])),
    hidden: new Set(hiddenStyles.map(({ id }) => id)),
    defaultParagraph,
  };
}

/** A switch of Word is on unless it says otherwise. */
export function isOn(attributes: XmlAttributes): boolean {
  const value = attribute(attributes, 'val');
  return value !== '0' && value !== 'false' && value !== 'off';
}

const chainMax = 20;

/** The first value in the chain of styles that a style is based on. */
function inherited<T>(
  entry: StyleEntry,
  entries: ReadonlyMap<string, StyleEntry>,
  memberOf: (entry: StyleEntry) => T | undefined,
): T | undefined {
  let current: StyleEntry | undefined = entry;
  for (let step = 0; step < chainMax && current !== undefined; step += 1) {
    const value = memberOf(current);
    if (value !== undefined) return value;
    current = entries.get(current.basedOn ?? '');
  }
  return undefined;
}

function resolveStyle(entry: StyleEntry, entries: ReadonlyMap<string, StyleEntry>): ParagraphStyle {
  const level = inherited(entry, entries, findLevel) ?? null;
  const listId = inherited(entry, entries, (style) => style.listId);
  const isNumbered = entry.listId !== undefined && entry.listId !== '0';
  return {
    id: entry.id,
    level,
    listId,
    listLevel: inherited(entry, entries, (style) => style.listLevel),
    isList: level === null && (isNumbered || /^list (?:bullet|number)/i.test(entry.name)),
    isTitle: /^title$/i.test(entry.name),
    isContents: /^(?:toc \d|table of figures)$/i.test(entry.name),
  };
}

/** Built-in styles have English names in every language; an outline level of 9 is body text. */
function findLevel({ name, outlineLevel }: StyleEntry): number | null | undefined {
  if (outlineLevel !== undefined) return outlineLevel >= 0 && outlineLevel < 9 ? outlineLevel + 1 : null;
  const level = /^heading ([1-9])$/i.exec(name)?.[1];
  return level === undefined ? undefined : Number(level);
}
