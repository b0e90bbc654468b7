import { oneLine } from '../../../../../lib/text/text.ts';
import type { ExtractedDocument } from '../../document.ts';
import { type DocumentWriter, tooMuchText } from '../../document-writer.ts';
import type { PartRelation } from '../../package-parts.ts';
import { attribute, relationId, type XmlAttributes, type XmlHandler } from '../../xml.ts';
import { FormulaReader } from '../formula.ts';
import { markdownLink } from '../markdown-link.ts';
import { writeTable } from '../markdown-table.ts';
import { withScript } from '../raised.ts';
import { FormField } from './form-field.ts';
import type { Note } from './notes.ts';
import type { Numbering } from './numbering.ts';
import { ShownText } from './shown-text.ts';
import { isOn, type ParagraphStyle, type Styles } from './styles.ts';
import { toSymbol } from './symbols.ts';

export interface BodyContext {
  readonly styles: Styles;
  readonly numbering: Numbering;
  /** Documents that the document includes, by the relation that leads to them. */
  readonly chunks: ReadonlyMap<string, ExtractedDocument>;
  readonly footnotes: ReadonlyMap<string, Note>;
  readonly endnotes: ReadonlyMap<string, Note>;
  readonly comments: ReadonlyMap<string, Note>;
  readonly relations: ReadonlyMap<string, PartRelation>;
}

const columnsMax = 1_000;

interface Paragraph {
  text: string;
  style: ParagraphStyle | undefined;
  outlineLevel: number | undefined;
  /** What the paragraph itself says of its list; its style may say it, too. */
  listId: string | undefined;
  listLevel: number | undefined;
  /** A large first letter, which stands in a frame of its own. */
  isDropCap: boolean;
  hasHiddenText: boolean;
  readonly page: number;
  readonly notes: string[];
}
interface Table {
  readonly rows: string[][];
  readonly page: number;
  span: number;
  /** Whether the cell continues the one above it. */
  isContinued: boolean;
  cell: string;
  readonly notes: string[];
}

/** Writes the body of a Word document while its XML is read. */
export class BodyReader implements XmlHandler {
  readonly #writer: DocumentWriter;
  readonly #context: BodyContext;
  readonly #paragraphs: Paragraph[] = [];
  readonly #tables: Table[] = [];
  readonly #links: { readonly address: string; readonly start: number }[] = [];
  /** Lines of the list that is being read. */
  #list: { readonly lines: string[]; readonly page: number } = { lines: [], page: 1 };
  readonly #shown: ShownText;
  #isText = false;
  readonly #formula = new FormulaReader();
  readonly #field = new FormField();
  /** Whether the run is raised or lowered, and where the last such text ended. */
  #script: 'superscript' | 'subscript' | undefined;
  #scriptEnd = -1;
  /** The same of text that is struck out. */
  #isStruck = false;
  #struckEnd = -1;
  /** Words that belong to the next paragraph: a drop cap, or a paragraph whose end was deleted. */
  #carried = '';
  #noteCount = 0;
  #chars = 0;
  /** The page that is being read. It stays 1 when the program that saved the document counted no pages. */
  page = 1;
  title: string | null = null;
  firstHeading: string | null = null;

  constructor(writer: DocumentWriter, context: BodyContext) {
    this.#writer = writer;
    this.#context = context;
    this.#shown = new ShownText(context.styles);
  }

  open(name: string, attributes: XmlAttributes): void {
    if (!this.#shown.open(name, attributes)) return;
    const paragraph = this.#paragraphs.at(-1);
    const table = this.#tables.at(-1);
    if (paragraph !== undefined) paragraph.text = this.#formula.open(name, attributes, paragraph.text);
    switch (name) {
      case 'p':
        this.#paragraphs.push(newParagraph(this.page, this.#context.styles));
        break;
      case 'tbl':
        this.#endList();
        this.#tables.push({ rows: [], page: this.page, span: 1, isContinued: false, cell: '', notes: [] });
        break;
      case 'tr':
        table?.rows.push([]);
        break;
      case 'tc':
        if (table !== undefined) Object.assign(table, { span: 1, isContinued: false, cell: '' });
        break;
      case 'gridSpan':
        if (table !== undefined) table.span = Math.min(columnsMax, Number(attribute(attributes, 'val')) || 1);
        break;
      case 'gridBefore':
        // Columns that the row leaves empty before its first cell.
        table?.rows.at(-1)?.push(...new Array(Math.min(columnsMax, Number(attribute(attributes, 'val')) || 0)).fill(''));
        break;
      case 'vMerge':
        if (table !== undefined) table.isContinued = attribute(attributes, 'val') !== 'restart';
        break;
      case 't':
        this.#isText = this.#isShown();
        break;
      case 'altChunk':
        this.#include(attributes);
        break;
      default:
        if (paragraph !== undefined) this.#openInParagraph(paragraph, name, attributes);
    }
  }

  close(name: string): void {
    const { isRowHidden, isJoined } = this.#shown;
    if (!this.#shown.close(name)) return;
    this.#isText = false;
    const paragraph = this.#paragraphs.at(-1);
    if (paragraph !== undefined) paragraph.text = this.#formula.close(paragraph.text);
    if (name === 'r') [this.#script, this.#isStruck] = [undefined, false];
    if (name === 'ffData') this.#add(this.#field.take());
    if (name === 'p') this.#endParagraph(isJoined);
    else if (name === 'tr') this.#endRow(isRowHidden);
    else if (name === 'tc') this.#endCell();
    else if (name === 'tbl') this.#endTable();
    else if (name === 'hyperlink') this.#endLink();
  }

  text(text: string): void {
    if (!this.#isText) return;
    const paragraph = this.#paragraphs.at(-1);
    if (paragraph === undefined || (this.#script === undefined && !this.#isStruck)) this.#add(text);
    else if (this.#script === undefined) this.#addStruck(paragraph, text);
    else this.#addScript(paragraph, text, this.#script);
  }

  finish(): void {
    this.#endList();
    if (this.#carried !== '') this.#writer.block('paragraph', this.#carried, this.page);
  }

  #openInParagraph(paragraph: Paragraph, name: string, attributes: XmlAttributes): void {
    const value = () => attribute(attributes, 'val');
    if (drawnElements.has(name) && !this.#isShown()) return;
    this.#field.open(name, value());
    switch (name) {
      case 'pStyle':
        paragraph.style = this.#context.styles.paragraphs.get(value() ?? '');
        break;
      case 'outlineLvl':
        paragraph.outlineLevel = Number(value());
        break;
      case 'ilvl':
        paragraph.listLevel = Math.min(8, Number(value()) || 0);
        break;
      case 'numId':
        paragraph.listId = value();
        break;
      case 'framePr':
        paragraph.isDropCap = /^(?:drop|margin)$/.test(attribute(attributes, 'dropCap') ?? '');
        break;
      case 'strike':
      case 'dstrike':
        this.#isStruck ||= isOn(attributes);
        break;
      case 'vertAlign':
        this.#script = toScript(value());
        break;
      case 'sym':
        this.#add(toSymbol(attribute(attributes, 'font'), attribute(attributes, 'char')));
        break;
      case 'tab':
      case 'ptab':
        this.#add('\t');
        break;
      case 'br':
      case 'cr':
        this.#add('\n');
        break;
      case 'noBreakHyphen':
        this.#add('-');
        break;
      case 'lastRenderedPageBreak':
        this.page += 1;
        break;
      case 'docPr':
        this.#add(attribute(attributes, 'descr') ?? '');
        break;
      case 'hyperlink': {
        const relation = this.#context.relations.get(relationId(attributes) ?? '');
        this.#links.push({ address: relation?.isExternal === true ? relation.target : '', start: paragraph.text.length });
        break;
      }
      case 'footnoteReference':
        this.#refer(paragraph, this.#context.footnotes, attributes);
        break;
      case 'endnoteReference':
        this.#refer(paragraph, this.#context.endnotes, attributes);
        break;
      case 'commentReference': {
        const comment = this.#context.comments.get(attribute(attributes, 'id') ?? '');
        if (comment !== undefined && comment.text !== '')
          paragraph.notes.push(`Comment${comment.author === '' ? '' : ` by ${comment.author}`}: ${comment.text}`);
        break;
      }
    }
  }

  /** Adds a raised or lowered text, which may come in several runs. */
  #addScript(paragraph: Paragraph, text: string, script: 'superscript' | 'subscript'): void {
    const line = withScript(paragraph.text, text, script === 'superscript', this.#scriptEnd === paragraph.text.length);
    this.#add(text);
    paragraph.text = line;
    this.#scriptEnd = paragraph.text.length;
  }

  /** Struck words have marks around them, those of neighbouring runs one pair. */
  #addStruck(paragraph: Paragraph, text: string): void {
    if (text.trim() === '') this.#add(text);
    else if (this.#struckEnd === paragraph.text.length) {
      paragraph.text = paragraph.text.slice(0, -1);
      this.#add(`${text}~`);
    } else this.#add(`~${text}~`);
    this.#struckEnd = paragraph.text.length;
  }

  #refer(paragraph: Paragraph, notes: ReadonlyMap<string, Note>, attributes: XmlAttributes): void {
    const note = notes.get(attribute(attributes, 'id') ?? '');
    if (note === undefined || note.text === '') return;
    this.#noteCount += 1;
    this.#add(`[^${this.#noteCount}]`);
    paragraph.notes.push(`[^${this.#noteCount}]: ${note.text}`);
  }

  #endLink(): void {
    const link = this.#links.pop();
    const paragraph = this.#paragraphs.at(-1);
    if (link === undefined || paragraph === undefined) return;
    const words = paragraph.text.slice(link.start);
    const linkText = words.trim();
    const at = words.indexOf(linkText);
    const linkedWords = words.slice(0, at) + markdownLink(linkText, link.address) + words.slice(at + linkText.length);
    paragraph.text = paragraph.text.slice(0, link.start) + linkedWords;
  }

  #endParagraph(isJoined: boolean): void {
    const paragraph = this.#paragraphs.pop();
    if (paragraph === undefined) return;
    const { style, page, notes } = paragraph;
    if (paragraph.hasHiddenText) this.#writer.omit('HIDDEN_PARTS');
    const table = this.#tables.at(-1);
    if (paragraph.isDropCap || (isJoined && table === undefined && notes.length === 0)) {
      this.#carried += isJoined ? paragraph.text.trimStart() : paragraph.text.trim();
      return;
    }
    const place = this.#placeInList(paragraph);
    const words = (this.#carried + paragraph.text).trim();
    this.#carried = '';
    const label = place?.label ?? '';
    // An empty cell with a number of its own numbers its row; elsewhere a number without words says nothing.
    const text = words === '' && table === undefined ? '' : `${label} ${words}`.trim();
    if (table !== undefined) {
      table.cell += `${table.cell === '' || text === '' ? '' : '\n'}${text}`;
      table.notes.push(...notes);
      return;
    }
    const level = headingLevel(paragraph);
    if (text !== '' && place !== undefined && level === null) {
      if (this.#list.lines.length === 0) this.#list = { lines: [], page };
      this.#list.lines.push(`${'  '.repeat(place.level)}${place.label === '' ? '- ' : ''}${text.replaceAll('\n', ' ')}`);
      this.#list.lines.push(...notes.map((note) => `  ${note}`));
      return;
    }
    if (text === '' && notes.length === 0) return;
    this.#endList();
    if (style?.isContents === true) return;
    if (style?.isTitle === true) this.title ??= oneLine(text);
    if (level === null) this.#writer.block('paragraph', text, page);
    else {
      if (level <= 2 && text !== '') this.firstHeading ??= oneLine(text);
      this.#writer.heading(level, text, page);
    }
    for (const note of notes) this.#writer.block('paragraph', note, page);
  }

  /** Counts the paragraph in its list. @returns undefined outside of lists. */
  #placeInList({
    style,
    text,
    hasHiddenText,
    ...own
  }: Paragraph): { readonly level: number; readonly label: string } | undefined {
    const { numbering } = this.#context;
    const listId = own.listId ?? style?.listId;
    // Number 0 takes a paragraph out of the list of its style.
    if (listId === '0') return undefined;
    if (listId === undefined)
      return style?.isList === true || own.listLevel !== undefined ? { level: own.listLevel ?? 0, label: '' } : undefined;
    const level = own.listLevel ?? style?.listLevel ?? numbering.levelOf(listId, style?.id ?? '') ?? 0;
    if (hasHiddenText && text.trim() === '') return { level, label: '' };
    return { level, label: numbering.next(listId, level)?.text ?? '' };
  }

  #include(attributes: XmlAttributes): void {
    const chunk = this.#context.chunks.get(relationId(attributes) ?? '');
    if (chunk === undefined) return;
    const table = this.#tables.at(-1);
    if (table !== undefined) {
      table.cell += `${table.cell === '' ? '' : '\n'}${chunk.text}`;
      return;
    }
    this.#endList();
    this.#writer.part(chunk, 0);
  }

  #endRow(isHidden: boolean): void {
    if (!isHidden) return;
    this.#tables.at(-1)?.rows.pop();
  }

  #endList(): void {
    if (this.#list.lines.length > 0) this.#writer.block('list', this.#list.lines.join('\n'), this.#list.page);
    this.#list = { lines: [], page: this.page };
  }

  #endCell(): void {
    const table = this.#tables.at(-1);
    const row = table?.rows.at(-1);
    if (table === undefined || row === undefined || row.length + table.span > columnsMax) return;
    const above = table.rows.at(-2)?.[row.length] ?? '';
    row.push(table.isContinued && table.cell === '' ? above : table.cell);
    for (let column = 1; column < table.span; column += 1) row.push('');
  }

  /** A table inside a table becomes text of the outer one's cell. */
  #endTable(): void {
    const table = this.#tables.pop();
    if (table === undefined) return;
    const outer = this.#tables.at(-1);
    if (outer === undefined) {
      writeTable(this.#writer, table.rows, table.page);
      for (const note of table.notes) this.#writer.block('paragraph', note, table.page);
    } else {
      outer.cell += ` ${table.rows.map((row) => row.filter((cell) => cell !== '').join(', ')).join('; ')}`;
      outer.notes.push(...table.notes);
    }
  }

  #isShown(): boolean {
    if (this.#shown.isShown) return true;
    const paragraph = this.#paragraphs.at(-1);
    if (paragraph !== undefined) paragraph.hasHiddenText = true;
    return false;
  }

  /** The text of a table or list is kept until its end, so it is counted here as well as in the writer. */
  #add(text: string): void {
    const paragraph = this.#paragraphs.at(-1);
    if (paragraph === undefined) return;
    this.#chars += text.length;
    if (this.#chars > this.#writer.textMaxChars) throw tooMuchText(this.#writer.textMaxChars);
    paragraph.text += text;
  }
}

/** Elements of a run that are seen, besides its text. */
const drawnElements = new Set([
  'tab',
  'ptab',
  'br',
  'cr',
  'noBreakHyphen',
  'sym',
  'docPr',
  'footnoteReference',
  'endnoteReference',
]);

function toScript(value: string | undefined): 'superscript' | 'subscript' | undefined {
  return value === 'superscript' || value === 'subscript' ? value : undefined;
}

function newParagraph(page: number, { paragraphs, defaultParagraph }: Styles): Paragraph {
  const style = paragraphs.get(defaultParagraph ?? '');
  return {
    text: '',
    style,
    page,
    notes: [],
    ...{ outlineLevel: undefined, listId: undefined, listLevel: undefined },
    isDropCap: false,
    hasHiddenText: false,
  };
}

function headingLevel({ style, outlineLevel }: Paragraph): number | null {
  if (style?.isTitle === true) return 1;
  if (outlineLevel !== undefined && outlineLevel >= 0) return outlineLevel < 9 ? outlineLevel + 1 : null;
  return style?.level ?? null;
}
