import { DomainError } from '../../../entities/ground/errors.ts';
import { escapeMarkup } from '../../../lib/text/markup.ts';

/** Stands in place of a secret. */
export const maskText = '[secret]';
/** Shorter secrets would also be found in ordinary words. */
const lengthMin = 4;

/**
 * Makes a function that removes secrets from texts, also in the encodings of URLs, JSON, markup, headers and Basic credentials. So a key
 * that a service echoes never reaches a model, a transcript or a log. A text that was masked before stays as it is.
 */
export function masker(secrets: Iterable<string>): (text: string) => string {
  return createReplacer(formsOfAll(secrets));
}

/** A text that arrives in pieces, and leaves in others. */
export interface TextStream {
  /** @returns the text that may leave now. */
  feed(piece: string): string;
  /** The same for a piece and a text that are JSON string literals, quotes included. Undefined: the piece has escapes, and must be fed as a text. */
  feedLiteral?(json: string): string | undefined;
  /** @returns the rest, at the end of the text. */
  flush(): string;
  readonly isHolding: boolean;
  /** What was masked so far. */
  readonly maskedCount: number;
}

/** A mask of texts, for all that leaves a run. */
export function createMask(text: (text: string) => string, stream: () => TextStream): RunMask {
  return {
    text,
    value: (value) => maskedValue(value, text) as typeof value,
    stream,
    error: (error) => maskedError(error, text),
  };
}

/** Removes the secrets of one request from all that leaves its run. */
export interface RunMask {
  text(text: string): string;
  /** A copy with masked texts. Members that name or type something are kept: they are made by the service, and readers look things up by them. */
  value<Value>(value: Value): Value;
  /** For a text that arrives in pieces. */
  stream(): TextStream;
  /** For a log or a reply: the error with a masked message and stack. */
  error(error: unknown): unknown;
}

/** Undefined for a request without secrets: nothing is masked, and nothing is spent on it. */
export function createRunMask(secrets: Readonly<Record<string, string>>): RunMask | undefined {
  const values = Object.values(secrets);
  if (values.length === 0) return undefined;
  const forms = formsOfAll(values);
  if (forms.length === 0) return undefined;
  const text = createReplacer(forms);
  const byFirst = Map.groupBy(forms, (form) => form.charCodeAt(0));
  return createMask(text, () => new MaskedStream(byFirst));
}

/** Both masks, one behind the other. */
export function joinMasks(first: RunMask | undefined, second: RunMask | undefined): RunMask | undefined {
  if (first === undefined || second === undefined) return first ?? second;
  return createMask(
    (text) => second.text(first.text(text)),
    () => joinStreams(first.stream(), second.stream()),
  );
}

function joinStreams(first: TextStream, second: TextStream): TextStream {
  return {
    feed: (piece) => second.feed(first.feed(piece)),
    flush: () => second.feed(first.flush()) + second.flush(),
    get isHolding() {
      return first.isHolding || second.isHolding;
    },
    get maskedCount() {
      return first.maskedCount + second.maskedCount;
    },
  };
}

/** Longest first. */
function formsOfAll(secrets: Iterable<string>): readonly string[] {
  const forms = new Set([...secrets].filter((secret) => secret.length >= lengthMin).flatMap(listForms));
  return [...forms].filter((form) => form.length >= lengthMin).sort((left, right) => right.length - left.length);
}

function createReplacer(forms: readonly string[]): (text: string) => string {
  const replaceForms = (text: string) => forms.reduce((result, form) => result.replaceAll(form, maskText), text);
  return (text) => (text.includes(maskText) ? text.split(maskText).map(replaceForms).join(maskText) : replaceForms(text));
}

function listForms(secret: string): readonly string[] {
  const bytes = Buffer.from(secret, 'utf8');
  const json = quoted(secret);
  const bare = secret.replace(/^(?:Bearer|Basic|Token) +/i, '');
  return [
    secret,
    bare,
    ...[json, quoted(json), escapeMarkup(secret), escapeMarkup(json)],
    encodeURIComponent(secret),
    bytes.toString('base64'),
    bytes.toString('base64url'),
    bytes.toString('hex'),
  ];
}

/** As it stands in a JSON string. */
function quoted(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/**
 * Masks a text that arrives in pieces: the end of a piece that may be the beginning of a secret is held back until the next one. Where several
 * secrets begin at one place, the longest is masked.
 */
class MaskedStream implements TextStream {
  readonly #byFirst: ReadonlyMap<number, readonly string[]>;
  #held = '';
  /** Secrets found so far. */
  maskedCount = 0;

  /** @param byFirst  the forms of the secrets by their first UTF-16 code unit, longest first. */
  constructor(byFirst: ReadonlyMap<number, readonly string[]>) {
    this.#byFirst = byFirst;
  }

  /** @returns the text that may leave now. */
  feed(piece: string): string {
    return this.#scan(this.#held + piece, false);
  }

  /** @returns the rest, at the end of the text. */
  flush(): string {
    return this.#scan(this.#held, true);
  }

  get isHolding(): boolean {
    return this.#held !== '';
  }

  #scan(text: string, isLast: boolean): string {
    let output = '';
    let from = 0;
    let place = 0;
    while (place < text.length) {
      const length = this.#lengthAt(text, place, isLast);
      if (length === undefined) break;
      if (length === 0) place += 1;
      else {
        output += text.slice(from, place) + maskText;
        this.maskedCount += 1;
        place += length;
        from = place;
      }
    }
    this.#held = text.slice(place);
    return output + text.slice(from, place);
  }

  /** The length of the secret at a place, 0 for none; undefined while that is open. */
  #lengthAt(text: string, place: number, isLast: boolean): number | undefined {
    const rest = text.length - place;
    for (const form of this.#byFirst.get(text.charCodeAt(place)) ?? []) {
      if (form.length <= rest) {
        if (text.startsWith(form, place)) return form.length;
      } else if (!isLast && form.startsWith(text.slice(place))) return undefined;
    }
    return 0;
  }
}

/** Members whose texts the service makes or looks things up by. `head` repeats the request itself. */
const structural: ReadonlySet<string> = new Set([
  ...['type', 'status', 'role', 'code', 'mode', 'kind', 'reason', 'finish', 'incompleteReason', 'ifLost', 'itemType', 'mimeType'],
  ...['id', 'itemId', 'callId', 'runId', 'agentId', 'parentId', 'subagentId', 'chunkId', 'knowledgeItemId', 'dataSourceId'],
  ...['fileId', 'entryId', 'stepId', 'key', 'modelId', 'provider', 'model', 'serviceTier', 'serverLabel', 'head', 'selection'],
]);

function maskedValue(value: unknown, mask: (text: string) => string): unknown {
  if (typeof value === 'string') return mask(value);
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  if (Array.isArray(value)) return value.map((member) => maskedValue(member, mask));
  // The name of a function stands beside the id of its call or of its item.
  const isCall = 'callId' in value || 'itemId' in value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      const isUnmasked = structural.has(name) || (isCall && name === 'name') || isDataUrl(name, member);
      return [name, isUnmasked ? member : maskedValue(member, mask)];
    }),
  );
}

/** The bytes of a file as text: a chance hit would destroy the file. */
function isDataUrl(name: string, value: unknown): boolean {
  return name === 'url' && typeof value === 'string' && value.startsWith('data:');
}

function maskedError(error: unknown, mask: (text: string) => string): unknown {
  if (error instanceof DomainError) return new DomainError(error.code, mask(error.message), error.detail);
  if (!(error instanceof Error)) return typeof error === 'string' ? mask(error) : error;
  const safeError = new Error(mask(error.message));
  safeError.name = error.name;
  safeError.stack = mask(error.stack ?? '');
  return safeError;
}
