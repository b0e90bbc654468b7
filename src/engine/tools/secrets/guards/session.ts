import { type Guard, type GuardKind, type GuardPattern, isGuarding, type MaskedKind } from '../../../../entities/agents/guard.ts';
import { createMask, type RunMask, type TextStream } from '../masking.ts';
import { createReadings, type MaskedBeginning, type MaskingRule, MaskingStream, type Readings } from './masking-stream.ts';
import { createOwnEngine, createValueEngine, type OwnPattern } from './own-patterns.ts';
import { createPatternEngine } from './patterns.ts';
import type { Finding, GuardEngine } from './port.ts';

/** What a guard does in a run, of those that hold for it. */
export interface RunGuard extends Pick<Guard, 'kinds' | 'putsBack' | 'modelId'> {
  readonly patterns: readonly OwnPattern[];
}

/** The guards of an organization and of an agent together: what one of them masks is masked, and values come back where both say so. */
export function joinGuards(
  guards: readonly (Guard | undefined)[],
  toOwn: (pattern: GuardPattern) => OwnPattern,
): RunGuard | undefined {
  const own = guards.filter((guard) => guard !== undefined && isGuarding(guard)) as readonly Guard[];
  if (own.length === 0) return undefined;
  return {
    kinds: [...new Set(own.flatMap(({ kinds }) => kinds))],
    patterns: own.flatMap(({ patterns }) => patterns.map(toOwn)),
    putsBack: own.every(({ putsBack }) => putsBack),
    modelId: own.find(({ modelId }) => modelId !== null)?.modelId ?? null,
  };
}

/** Stands in place of a value. */
const placeholder = /\[[A-Z][A-Z0-9_]{0,40}_\d{1,6}\]/g;
const openPlaceholder = /^\[[A-Z0-9_]{0,48}$/;

/**
 * The values that one run masks, each with what stands in its place: `[EMAIL_1]`. They are numbered in the order in which they come, so that a conversation
 * that goes on has the same ones. Values are in the memory of the run alone.
 */
export class GuardSession {
  readonly guard: RunGuard;
  readonly #note: (kind: MaskedKind) => void;
  readonly #engines: GuardEngine[] = [];
  /** By which streams know what may pass. */
  readonly #readings: { current: Readings } = { current: createReadings([]) };
  readonly #kinds = new Set<GuardKind>();
  readonly #patterns = new Set<OwnPattern>();
  readonly #named = new Set<string>();
  readonly #placeholders = new Map<string, string>();
  readonly #values = new Map<string, string>();
  readonly #counts = new Map<string, number>();

  /** @param note  counts a value, once for the run. */
  constructor(guard: RunGuard, note: (kind: MaskedKind) => void) {
    this.guard = guard;
    this.#note = note;
    this.extend(guard);
  }

  /** Masks what another guard finds as well: often that of the same organization, once more for each run that this one starts. */
  extend({ kinds, patterns }: RunGuard): void {
    const newKinds = kinds.filter((kind) => isAdded(this.#kinds, kind));
    const newPatterns = patterns.filter((each) => isAdded(this.#patterns, each));
    if (newKinds.length > 0) this.#engines.push(createPatternEngine(newKinds));
    if (newPatterns.length > 0) this.#engines.push(createOwnEngine(newPatterns));
    this.#readings.current = createReadings(this.#engines);
  }

  /** Values that a model has named. */
  addValues(values: readonly string[]): void {
    const newValues = values.filter((value) => isAdded(this.#named, value));
    if (newValues.length === 0) return;
    this.#engines.push(createValueEngine(newValues));
    this.#readings.current = createReadings(this.#engines);
  }

  readonly mask = (text: string): string => this.#replace(text, this.#findings(text, ''));

  /** The text with the values again. @param asJson  it stands within a JSON string. */
  restore(text: string, asJson = false): string {
    if (this.#values.size === 0 || !text.includes('[')) return text;
    return text.replace(placeholder, (name) => {
      const value = this.#values.get(name);
      if (value === undefined) return name;
      return asJson ? JSON.stringify(value).slice(1, -1) : value;
    });
  }

  /** Masks all that leaves the run. */
  outMask(): RunMask {
    const rule: MaskingRule = {
      maskEnd: (text, before) => this.#replace(text, this.#findings(text, before)),
      maskBeginning: (text, before) => this.#maskBeginning(text, before),
      maskBefore: (open, text, before, engines) => this.#maskBefore(open, text, before, engines),
      readings: this.#readings,
    };
    return createMask(this.mask, () => new MaskingStream(rule));
  }

  restoring(asJson: boolean): TextStream {
    return new RestoringStream((text) => this.restore(text, asJson));
  }

  #maskBeginning(text: string, before: string): MaskedBeginning {
    let firstOpen = openPlaceholderAt(text);
    for (const engine of this.#engines) firstOpen = Math.min(firstOpen, engine.openAt(text));
    return firstOpen === 0 ? { masked: '', open: 0, hasMore: false } : this.#maskBefore(firstOpen, text, before, this.#engines);
  }

  #maskBefore(firstOpen: number, text: string, before: string, engines: readonly GuardEngine[]): MaskedBeginning {
    const findings = this.#findings(text, before, engines);
    const last = findings.at(-1);
    if (last === undefined) return { masked: text.slice(0, firstOpen), open: firstOpen, hasMore: false };
    if (last.end <= firstOpen)
      return { masked: this.#replace(text.slice(0, firstOpen), findings), open: firstOpen, hasMore: false };
    // A value that goes on behind the place stays whole.
    const open = findings.find(({ start, end }) => start < firstOpen && end > firstOpen)?.start ?? firstOpen;
    const wholeFindings = findings.filter(({ end }) => end <= open);
    return { masked: this.#replace(text.slice(0, open), wholeFindings), open, hasMore: true };
  }

  /** In the order of the text, none within another. */
  #findings(text: string, before: string, engines: readonly GuardEngine[] = this.#engines): readonly Finding[] {
    let findings: readonly Finding[] = [];
    for (const engine of engines) {
      const more = engine.find(text, before);
      if (more.length > 0) findings = findings.length === 0 ? more : [...findings, ...more];
    }
    if (findings.length === 0) return findings;
    if (findings.length === 1 && !text.includes('[')) return findings;
    const spans = text.includes('[') ? [...text.matchAll(placeholder)].filter(([name]) => this.#values.has(name)) : [];
    const isFree = ({ start, end }: Finding) => !spans.some(({ index, 0: name }) => start < index + name.length && end > index);
    return joinOverlaps(findings.filter(isFree).toSorted((left, right) => left.start - right.start || right.end - left.end));
  }

  #replace(text: string, findings: readonly Finding[]): string {
    if (findings.length === 0) return text;
    let written = '';
    let from = 0;
    for (const finding of findings) {
      written += text.slice(from, finding.start) + this.#nameOf(text.slice(finding.start, finding.end), finding);
      from = finding.end;
    }
    return written + text.slice(from);
  }

  #nameOf(value: string, { kind, label }: Finding): string {
    const known = this.#placeholders.get(value);
    if (known !== undefined) return known;
    const count = (this.#counts.get(label) ?? 0) + 1;
    const name = `[${label}_${count}]`;
    this.#counts.set(label, count);
    this.#placeholders.set(value, name);
    this.#values.set(name, value);
    this.#note(kind);
    return name;
  }
}

const placeholderMax = 50;

/** Where a placeholder begins that may go on behind the text; the length of the text: nowhere. */
function openPlaceholderAt(text: string): number {
  const at = text.lastIndexOf('[');
  return at !== -1 && at >= text.length - placeholderMax && openPlaceholder.test(text.slice(at)) ? at : text.length;
}

/** Values that overlap are one, named after the first of them: no part of any is left. */
function joinOverlaps(findings: readonly Finding[]): readonly Finding[] {
  const joined: Finding[] = [];
  for (const finding of findings) {
    const last = joined.at(-1);
    if (last === undefined || finding.start >= last.end) joined.push(finding);
    else if (finding.end > last.end) joined[joined.length - 1] = { ...last, end: finding.end };
  }
  return joined;
}

function isAdded<Value>(values: Set<Value>, value: Value): boolean {
  return values.size < values.add(value).size;
}

/** Puts values back in a text that arrives in pieces; what may be the beginning of a placeholder waits for the next piece. */
class RestoringStream implements TextStream {
  readonly #restore: (text: string) => string;
  readonly maskedCount = 0;
  #held = '';

  constructor(restore: (text: string) => string) {
    this.#restore = restore;
  }

  get isHolding(): boolean {
    return this.#held !== '';
  }

  feed(piece: string): string {
    if (this.#held === '' && !piece.includes('[')) return piece;
    const text = this.#held + piece;
    const open = openPlaceholderAt(text);
    this.#held = text.slice(open);
    return this.#restore(text.slice(0, open));
  }

  flush(): string {
    const rest = this.#held;
    this.#held = '';
    return this.#restore(rest);
  }
}
