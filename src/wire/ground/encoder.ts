import { warningsIn } from '../../entities/conversations/runs/answer.ts';
import { isTerminal, type RunEvent, type RunSnapshot } from '../../entities/conversations/runs/event.ts';
import type { Warning } from '../../entities/ground/warning.ts';

/** The request's coerced variables, for what a reply repeats of it (the model as it was named). */
export type Variables = Readonly<Record<string, unknown>>;

/** What an encoder gets of a call besides its variables. */
export interface EncoderContext {
  readonly nowMs: number;
  /** Whether the caller takes what the service adds to the format: some stock clients fail on it. */
  readonly takesExtensions: boolean;
  /** Whether the caller of a completion gets images that tools made. Default: as `takesExtensions`. */
  readonly takesImages?: boolean;
  /** What the resolver noted for the reply. */
  readonly notes?: ReadonlyMap<string, string>;
}

/** Whom a reply is shown to. */
export interface ShownTo {
  /** Whether the key may see the things that a member names by their ids. @param member  `dataSourceIds` */
  mayRead(member: string): boolean;
}

/** Turns batches of run events into the text of SSE frames, one string per batch: one write per upstream read. */
export interface StreamEncoder {
  /** Frames for a batch; '' when there is nothing to send. */
  encode(events: readonly RunEvent[]): string;
  /** Frames that end the stream well. */
  end(): string;
  /** Frames that end the stream after a failure once the head is out. */
  fail(error: unknown): string;
}
export type StreamEncoderFactory = (variables: Variables, context: EncoderContext) => StreamEncoder;

/** Codes of warnings about options of a request. */
const optionCodes: ReadonlySet<string> = new Set(['option_not_supported', 'option_changed', 'model_warning']);

/**
 * The warnings that a caller is shown. What of a request has no effect is told to every caller: stock clients pass over a member that they do not
 * know, and nothing is ignored in silence. What of an agent has no effect is an addition to the format.
 */
export function shownWarnings(
  warnings: readonly Warning[],
  { takesExtensions }: Pick<EncoderContext, 'takesExtensions'>,
): readonly Warning[] | undefined {
  const visibleWarnings = takesExtensions ? warnings : warnings.filter(({ code }) => optionCodes.has(code));
  return visibleWarnings.length === 0 ? undefined : visibleWarnings;
}

/** The fold of a run's events into one JSON body. `headers` are set on the reply. */
export interface ReplyFold {
  add(events: readonly RunEvent[]): void;
  /** The body, to be written as JSON. @throws DomainError when the run failed and the format says so by an error. */
  body(): object;
  headers?(): Readonly<Record<string, string>>;
}

/**
 * The fold of a run into what its last event shows.
 *
 * @param bodyOf  gets the run with all its warnings: the first event has those that were known before.
 */
export function foldOfEnd(
  bodyOf: (run: RunSnapshot) => object,
  headersOf: (run: RunSnapshot) => Readonly<Record<string, string>> = () => ({}),
): ReplyFold {
  let run: RunSnapshot | undefined;
  let warnings: readonly Warning[] = [];
  let ended: RunSnapshot | undefined;
  const readEnd = () => {
    if (run === undefined) throw new Error('the run ended without its last event');
    ended ??= { ...run, warnings };
    return ended;
  };
  return {
    add(events) {
      const newWarnings = warningsIn(events);
      if (newWarnings.length > 0) warnings = [...warnings, ...newWarnings];
      const last = events.at(-1);
      if (last !== undefined && isTerminal(last) && 'run' in last) run = last.run;
    },
    body: () => bodyOf(readEnd()),
    headers: () => headersOf(readEnd()),
  };
}

/** A reply in a third-party format: its schema's name, and its encoder. */
export interface WireReply {
  readonly schema: string;
  /** The switch `x-parley-extensions` changes the reply. */
  readonly hasExtensions?: boolean;
  /** From the events of a subscription. */
  readonly fold?: (variables: Variables, context: EncoderContext) => ReplyFold;
  /** From what the resolver of a query or a mutation returns. */
  readonly encode?: (value: never, context: EncoderContext & ShownTo) => object;
}
