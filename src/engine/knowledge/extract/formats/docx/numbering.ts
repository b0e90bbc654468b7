import type { Archive } from '../../archive.ts';
import { attribute } from '../../xml.ts';
import { formatNumber } from '../list-numbers.ts';

/** The number or the sign that Word shows before a paragraph of a list. */
export interface ListLabel {
  /** Such as `2.1`, `b)` or `§ 4`; empty for bullets and for levels without a sign. */
  readonly text: string;
}

interface Level {
  start: number;
  format: string;
  /** `%1.%2` for the numbers of the first two levels. */
  text: string;
  /** All numbers of the text are decimal, whatever their levels say. */
  isLegal: boolean;
  /** The id of the paragraph style that has this level. */
  style: string | undefined;
}
interface Definition {
  readonly levels: Map<number, Level>;
  /** The names by which a definition and a style refer to each other. */
  styleLink: string | undefined;
  numStyleLink: string | undefined;
}
interface Instance {
  definitionId: string;
  readonly starts: Map<number, number>;
  readonly levels: Map<number, Level>;
}

const levelsMax = 9;
const labelMaxChars = 60;

/** Counts the paragraphs of lists as Word does: lists of one definition go on counting, unless an instance starts anew. */
export class Numbering {
  readonly #definitions: ReadonlyMap<string, Definition>;
  readonly #instances: ReadonlyMap<string, Instance>;
  /** The last number of each level, by definition. */
  readonly #counts = new Map<string, (number | undefined)[]>();
  readonly #begun = new Set<string>();

  constructor(definitions: ReadonlyMap<string, Definition>, instances: ReadonlyMap<string, Instance>) {
    this.#definitions = definitions;
    this.#instances = instances;
  }

  /** The level that a paragraph style has in a list. */
  levelOf(instanceId: string, styleId: string): number | undefined {
    const levels = this.#definitionOf(this.#instances.get(instanceId))?.levels ?? new Map<number, Level>();
    for (const [level, { style }] of levels) if (style === styleId) return level;
    return undefined;
  }

  /** Counts one paragraph. @returns undefined for a list that the document does not define. */
  next(instanceId: string, level: number): ListLabel | undefined {
    const instance = this.#instances.get(instanceId);
    const definition = this.#definitionOf(instance);
    if (instance === undefined || definition === undefined) return undefined;
    const levelAt = (at: number) => instance.levels.get(at) ?? definition.levels.get(at);
    const counts = this.#counts.get(instance.definitionId) ?? [];
    this.#counts.set(instance.definitionId, counts);
    for (const [at, start] of instance.starts) {
      const key = `${instanceId} ${at}`;
      if (this.#begun.has(key)) continue;
      this.#begun.add(key);
      counts[at] = start - 1;
    }
    counts[level] = (counts[level] ?? (levelAt(level)?.start ?? 1) - 1) + 1;
    counts.length = level + 1;
    const currentLevel = levelAt(level);
    if (currentLevel === undefined || currentLevel.format === 'bullet' || currentLevel.format === 'none') return { text: '' };
    const text = currentLevel.text.replace(/%([1-9])/g, (_match, digit: string) => {
      const at = Number(digit) - 1;
      const of = levelAt(at);
      return formatNumber(counts[at] ?? of?.start ?? 1, currentLevel.isLegal ? 'decimal' : (of?.format ?? 'decimal'));
    });
    return { text: text.trim().slice(0, labelMaxChars) };
  }

  #definitionOf(instance: Instance | undefined): Definition | undefined {
    const definition = this.#definitions.get(instance?.definitionId ?? '');
    const link = definition?.numStyleLink;
    if (link === undefined) return definition;
    return [...this.#definitions.values()].find(({ styleLink }) => styleLink === link) ?? definition;
  }
}

/** The lists of a document. @param part  its `numbering.xml`; '' where it has none. */
export async function readNumbering(archive: Archive, part: string): Promise<Numbering> {
  const definitions = new Map<string, Definition>();
  const instances = new Map<string, Instance>();
  let definition: Definition | undefined;
  let instance: Instance | undefined;
  let level: Level | undefined;
  let at = 0;
  await archive.xml(part, {
    open(name, attributes) {
      const value = attribute(attributes, 'val') ?? '';
      switch (name) {
        case 'abstractNum':
          definition = { levels: new Map(), styleLink: undefined, numStyleLink: undefined };
          definitions.set(attribute(attributes, 'abstractNumId') ?? '', definition);
          break;
        case 'num':
          instance = { definitionId: '', starts: new Map(), levels: new Map() };
          instances.set(attribute(attributes, 'numId') ?? '', instance);
          break;
        case 'abstractNumId':
          if (instance !== undefined) instance.definitionId = value;
          break;
        case 'styleLink':
          if (definition !== undefined) definition.styleLink = value;
          break;
        case 'numStyleLink':
          if (definition !== undefined) definition.numStyleLink = value;
          break;
        case 'lvlOverride':
          at = parseLevel(attribute(attributes, 'ilvl'));
          break;
        case 'startOverride':
          instance?.starts.set(at, Number(value) || 0);
          break;
        case 'lvl':
          at = parseLevel(attribute(attributes, 'ilvl'));
          level = { start: 0, format: 'decimal', text: '', isLegal: false, style: undefined };
          (instance ?? definition)?.levels.set(at, level);
          break;
        default:
          if (level !== undefined) readLevel(level, name, value);
      }
    },
    close(name) {
      if (name === 'lvl') level = undefined;
      else if (name === 'abstractNum') definition = undefined;
      else if (name === 'num') instance = undefined;
    },
  });
  return new Numbering(definitions, instances);
}

function readLevel(level: Level, name: string, value: string): void {
  if (name === 'start') level.start = Number(value) || 0;
  else if (name === 'numFmt') level.format = value;
  else if (name === 'lvlText') level.text = value;
  else if (name === 'pStyle') level.style = value;
  else if (name === 'isLgl') level.isLegal = value !== '0' && value !== 'false';
}

function parseLevel(value: string | undefined): number {
  return Math.min(levelsMax - 1, Math.max(0, Number(value) || 0));
}
