import type { ItemStatus, RunEvent, RunEventBody, RunItem, TokenLogprob } from '../../../entities/conversations/runs/event.ts';
import type { CallOrigin, OpaquePart, ThoughtOrigin } from '../../../entities/conversations/runs/thought.ts';
import type { IdKind } from '../../../entities/ground/ids.ts';
import type { Citation } from '../../../entities/knowledge/citation.ts';
import { storableJson, storableText } from '../../../lib/text/text.ts';
import type { RunMask } from '../../tools/secrets/masking.ts';
import { CallQueue } from './call-queue.ts';
import { decodeLiteral, SaidText } from './literal.ts';
import type { CitationMarkers, MarkedText } from './markers.ts';
import { MaskedDeltas, type SaidKind } from './masked-deltas.ts';
import { OutputBudget } from './output-budget.ts';

interface OpenText {
  readonly type: 'message' | 'reasoning';
  readonly id: string;
  readonly outputIndex: number;
  /** The text so far as the inside of a JSON string literal; decoded once, at the end. */
  readonly literal: SaidText;
  readonly citations: Citation[];
  readonly isRefusal: boolean;
  /** Of a thought that its provider marked. */
  seal: Omit<ThoughtOrigin, 'provider'>;
  /** Secrets masked in the run before it. */
  readonly maskedBefore: number;
  logprobs: TokenLogprob[] | undefined;
  /** How many of `logprobs` have left with a delta. */
  logprobsTold: number;
}

interface Seal {
  readonly opaque: OpaquePart;
  readonly callIndex?: number;
}

const noSeal: OpenText['seal'] = {};

export interface OutputMark {
  readonly sequence: number;
  readonly events: number;
  readonly items: number;
  readonly hasAdded: boolean;
  readonly charsLeft: number;
}

/**
 * Turns the deltas of a model into numbered events and output items. One item is open at a time; every opened item is closed, with the same id,
 * before the run's terminal event. Nothing leaves a run but by its output, so this is where the secrets of the request are masked.
 *
 * Cost: a text delta is one string slice, one concatenation and one object (well below 1 µs); text is decoded only when its item is closed.
 */
export class RunOutput {
  readonly #newId: (kind: IdKind) => string;
  readonly #done: RunItem[];
  readonly #calls: CallQueue;
  #sequence: number;
  #batch: RunEvent[] = [];
  #open: OpenText | undefined;
  #markers: (() => CitationMarkers) | undefined;
  #marking: CitationMarkers | undefined;
  #hasAdded: boolean;
  #keepsText = true;
  readonly #budget: OutputBudget;
  /** The provider of the thought that is open. */
  #thinking: string | undefined;
  /** Undefined for a request without secrets. */
  readonly #mask: RunMask | undefined;
  readonly #deltas: MaskedDeltas | undefined;

  /**
   * @param hasAdded  true for a run that continues in place of another process: a reader may have seen its output.
   * @param mask      of the request's secrets.
   */
  constructor(
    newId: (kind: IdKind) => string,
    firstSequence: number,
    items: readonly RunItem[],
    charsMax: number,
    hasAdded = false,
    mask?: RunMask,
  ) {
    this.#mask = mask;
    this.#deltas = mask === undefined ? undefined : new MaskedDeltas(mask);
    this.#newId = newId;
    this.#sequence = firstSequence;
    this.#done = [...items];
    this.#hasAdded = hasAdded;
    this.#budget = new OutputBudget(charsMax, items);
    this.#calls = new CallQueue(this);
  }

  /** The closed items, in order. */
  get items(): readonly RunItem[] {
    return this.#done;
  }

  /** Whether the model has said anything yet. */
  get hasItems(): boolean {
    return this.#hasAdded;
  }

  /** Whether the answer is longer than a run may keep: the rest is left out. */
  get isFull(): boolean {
    return this.#budget.isFull;
  }

  /** From now on, messages are searched for markers of passages; each message has a numbering of its own. */
  watchMarkers(create: () => CitationMarkers): void {
    this.#markers = create;
  }

  /** From now on, text is only in its deltas: the closing events are without it. */
  forgetText(): void {
    this.#keepsText = false;
  }

  /** The events since the last call. */
  take(): readonly RunEvent[] {
    const batch = this.#batch;
    this.#batch = [];
    return batch;
  }

  emit(body: RunEventBody): void {
    const maskedBody = this.#mask === undefined ? body : this.#mask.value(body);
    this.#batch.push({ sequence: this.#nextSequence(), ...maskedBody });
  }

  /** Emits an event that counts as said: a process that takes the run over goes on behind it. */
  note(body: RunEventBody): void {
    this.#hasAdded = true;
    this.emit(body);
  }

  text(textDelta: string): void {
    if (this.#deltas === undefined) this.#sayText(textDelta);
    else this.#sayMasked(this.#deltas, 'text', textDelta);
  }

  #sayText(textDelta: string): void {
    const json = this.#kept(textDelta);
    if (json === undefined) return;
    const open = this.#open?.type === 'message' && !this.#open.isRefusal ? this.#open : this.#openText('message');
    const inside = json.slice(1, -1);
    if (this.#marking === undefined) this.#textDelta(open, inside, json);
    else this.#markedText(open, this.#marking.feed(inside));
  }

  /** A refusal is a message of its own, without citations. */
  refusal(refusalDelta: string): void {
    if (this.#deltas === undefined) this.#sayRefusal(refusalDelta);
    else this.#sayMasked(this.#deltas, 'refusal', refusalDelta);
  }

  #sayRefusal(refusalDelta: string): void {
    const json = this.#kept(refusalDelta);
    if (json === undefined) return;
    const open = this.#open?.isRefusal === true ? this.#open : this.#openText('message', true);
    this.#textDelta(open, json.slice(1, -1), json);
  }

  /** Log probabilities of the text before them. */
  logprobs(tokens: readonly TokenLogprob[]): void {
    const visible = this.#deltas === undefined ? tokens : this.#deltas.visibleTokens(tokens);
    const open = this.#open;
    if (open?.type !== 'message' || !this.#keepsText || !this.#budget.takesLogprobs(visible)) return;
    open.logprobs ??= [];
    for (const token of visible) open.logprobs.push(token);
    this.#tellLogprobs(open);
  }

  /** Log probabilities leave with the delta they came with, or with the next one while a possible marker holds the text back. */
  #tellLogprobs(open: OpenText): void {
    if (open.logprobs === undefined || open.logprobsTold === open.logprobs.length) return;
    const at = this.#batch.findLastIndex(({ type }) => type !== 'response.output_text.annotation.added');
    const last = this.#batch[at];
    const isUntold = last?.type === 'response.output_text.delta' && last.itemId === open.id && last.logprobs === undefined;
    if (!isUntold) return;
    this.#batch[at] = { ...last, logprobs: open.logprobs.slice(open.logprobsTold) };
    open.logprobsTold = open.logprobs.length;
  }

  /** @param provider  its id. */
  reasoning(reasoningDelta: string, provider?: string): void {
    this.#thinking = provider;
    if (this.#deltas === undefined) this.#sayReasoning(reasoningDelta);
    else this.#sayMasked(this.#deltas, 'reasoning', reasoningDelta);
  }

  /** Closes the open thought, or adds one without text, with what its provider demands to see again. */
  thought({ opaque, callIndex }: Seal, provider?: string): void {
    this.#thinking = provider;
    this.#sayHeld();
    const open = this.#open?.type === 'reasoning' ? this.#open : this.#openText('reasoning');
    if (this.#keepsWhole(opaque)) open.seal = callIndex === undefined ? { opaque } : { opaque, callIndex };
    this.#closeText('completed');
  }

  /** Whether an opaque part can be kept as it is: a changed one is of no use to its provider. */
  #keepsWhole(opaque: OpaquePart): boolean {
    const json = JSON.stringify(opaque);
    const literal = JSON.stringify(json);
    const isSame = JSON.stringify(storableJson(this.#mask?.value(opaque) ?? opaque)) === json;
    return isSame && this.#budget.take(literal) === literal;
  }

  #sayReasoning(reasoningDelta: string): void {
    const json = this.#budget.take(reasoningDelta);
    if (json === undefined) return;
    const open = this.#open?.type === 'reasoning' ? this.#open : this.#openText('reasoning');
    // Also where text is forgotten: a provider checks that its thoughts come back as they were.
    open.literal.add(json.slice(1, -1));
    this.#batch.push({
      sequence: this.#nextSequence(),
      type: 'response.reasoning_text.delta',
      outputIndex: open.outputIndex,
      itemId: open.id,
      json,
    });
  }

  callStart(index: number, callId: string, name: string, origin?: CallOrigin): void {
    this.#sayHeld();
    this.#closeText('completed');
    this.#calls.start(index, storableText(callId), storableText(name), origin);
  }

  callArguments(index: number, json: string): void {
    const jsonPart = this.#budget.take(this.#deltas === undefined ? json : this.#deltas.argumentsOf(index, json));
    if (jsonPart !== undefined) this.#calls.append(index, jsonPart.slice(1, -1));
  }

  /** Counts arguments that are kept elsewhere. @returns the inside of the literal, cut where the budget ends. */
  keep(json: string): string {
    return this.#budget.take(json)?.slice(1, -1) ?? '';
  }

  /** Closes what is open. `incomplete`: the answer was cut, and its last item with it. */
  close(status: ItemStatus): void {
    this.#sayHeld();
    for (const [index, json] of this.#deltas?.restOfArguments() ?? []) this.#calls.append(index, json.slice(1, -1));
    this.#closeItems(status);
  }

  #closeItems(status: ItemStatus): void {
    this.#closeText(status);
    this.#calls.closeAll(status);
  }

  /** What was held back of another kind is said before. */
  #sayMasked(deltas: MaskedDeltas, kind: SaidKind, json: string): void {
    if (deltas.kind !== kind) this.#sayHeld();
    this.#say(kind, deltas.feed(kind, json));
  }

  /** Says what may no longer become a secret. */
  #sayHeld(): void {
    const deltas = this.#deltas;
    if (deltas?.kind !== undefined) this.#say(deltas.kind, deltas.end());
  }

  #say(kind: SaidKind, json: string): void {
    if (json.length === 2) return;
    if (kind === 'text') this.#sayText(json);
    else if (kind === 'refusal') this.#sayRefusal(json);
    else this.#sayReasoning(json);
  }

  /** Opens the next item. @returns its index in the output. */
  addItem(item: RunItem, statusHints?: readonly string[]): number {
    const outputIndex = this.#done.length;
    this.#hasAdded = true;
    const added = { type: 'response.output_item.added', outputIndex, item } as const;
    this.emit(statusHints === undefined ? added : { ...added, statusHints });
    return outputIndex;
  }

  /** Closes the item that was opened last. */
  finishItem(item: RunItem): void {
    this.emit({ type: 'response.output_item.done', outputIndex: this.#done.length, item });
    this.#done.push(this.#mask === undefined ? item : this.#mask.value(item));
  }

  /** Whether the last thing in the output is a text or a call for the caller. */
  get hasAnswer(): boolean {
    const last = this.#done.findLast(({ type }) => type !== 'reasoning');
    return last?.type === 'message' || last?.type === 'function_call';
  }

  /** Adds a message without text. Clients ask again, up to their limit, while an answer has no message. */
  sayNothing(): void {
    this.#openText('message');
    this.#closeText('completed');
  }

  /** Adds what an MCP server lists, as one whole item. */
  list(listing: Omit<Extract<RunItem, { readonly type: 'mcp_list_tools' }>, 'type' | 'id' | 'status'>): void {
    const status = listing.error === null ? 'completed' : 'failed';
    const item: RunItem = { type: 'mcp_list_tools', id: this.#newId('mcpList'), status, ...listing };
    this.addItem(item);
    this.finishItem(item);
  }

  itemId(kind: IdKind): string {
    return this.#newId(kind);
  }

  /** The text of the messages from index `place` on, including the open message; nothing may be added to that one afterwards. */
  textFrom(place: number): string {
    this.#sayHeld();
    const messageTexts = this.#done.slice(place).map((item) => (item.type === 'message' ? item.text : ''));
    if (this.#open?.type !== 'message') return messageTexts.join('');
    if (this.#marking !== undefined) this.#markedText(this.#open, this.#marking.flush());
    return messageTexts.join('') + decodeLiteral(this.#open.literal.toString());
  }

  /** The current position, for `takeBack`. */
  mark(): OutputMark {
    return {
      sequence: this.#sequence,
      events: this.#batch.length,
      items: this.#done.length,
      hasAdded: this.#hasAdded,
      charsLeft: this.#budget.left,
    };
  }

  /** Removes everything after a mark. No event after it may have been taken, and no call may be open. */
  takeBack(mark: OutputMark): void {
    this.#sequence = mark.sequence;
    this.#batch.length = mark.events;
    this.#done.length = mark.items;
    this.#hasAdded = mark.hasAdded;
    this.#budget.left = mark.charsLeft;
    this.#open = undefined;
    this.#deltas?.end();
  }

  #kept(json: string): string | undefined {
    return this.#keepsText ? this.#budget.take(json) : json;
  }

  #nextSequence(): number {
    const sequence = this.#sequence;
    this.#sequence += 1;
    return sequence;
  }

  #textDelta(open: OpenText, inside: string, json: string): void {
    if (this.#keepsText) open.literal.add(inside);
    this.#batch.push({
      sequence: this.#nextSequence(),
      type: 'response.output_text.delta',
      outputIndex: open.outputIndex,
      itemId: open.id,
      json,
    });
  }

  #markedText(open: OpenText, { literal, citations }: MarkedText): void {
    if (literal !== '') this.#textDelta(open, literal, `"${literal}"`);
    for (const citation of citations) {
      open.citations.push(citation);
      this.emit({
        type: 'response.output_text.annotation.added',
        outputIndex: open.outputIndex,
        itemId: open.id,
        citation,
      });
    }
  }

  #openText(type: OpenText['type'], isRefusal = false): OpenText {
    this.#closeItems('completed');
    const id = this.#newId(type);
    const outputIndex = this.addItem(
      type === 'message'
        ? { type, id, status: 'in_progress', text: '', citations: [], ...(isRefusal ? { isRefusal } : undefined) }
        : { type, id, status: 'in_progress', text: '' },
    );
    if (type === 'message') {
      this.emit({ type: 'response.content_part.added', outputIndex, itemId: id });
      this.#marking = isRefusal ? undefined : this.#markers?.();
    }
    const literal = new SaidText();
    const open: OpenText = {
      type,
      id,
      outputIndex,
      literal,
      citations: [],
      isRefusal,
      logprobs: undefined,
      logprobsTold: 0,
      seal: noSeal,
      maskedBefore: this.#deltas?.maskedCount ?? 0,
    };
    this.#open = open;
    return open;
  }

  /** A thought in which a secret was masked cannot be given back: it is not what the provider marked any more. */
  #finishThought(item: Extract<RunItem, { readonly type: 'reasoning' }>, { seal, maskedBefore }: OpenText): void {
    const isMasked = (this.#deltas?.maskedCount ?? 0) > maskedBefore;
    const provider = this.#thinking === undefined ? {} : { provider: this.#thinking };
    const hasOrigin = this.#thinking !== undefined || seal.opaque !== undefined;
    this.finishItem(isMasked || !hasOrigin ? item : { ...item, origin: { ...provider, ...seal } });
  }

  #closeText(status: ItemStatus): void {
    const open = this.#open;
    if (open === undefined) return;
    if (open.type === 'message' && this.#marking !== undefined) this.#markedText(open, this.#marking.flush());
    this.#tellLogprobs(open);
    this.#open = undefined;
    const { id, outputIndex, citations } = open;
    const text = decodeLiteral(open.literal.toString());
    if (open.type === 'message') {
      const { logprobs } = open;
      const likely = logprobs === undefined ? undefined : { logprobs };
      this.emit({ type: 'response.output_text.done', outputIndex, itemId: id, text, ...likely });
      this.emit({ type: 'response.content_part.done', outputIndex, itemId: id, text, citations, ...likely });
      this.finishItem({
        type: 'message',
        id,
        status,
        text,
        citations,
        ...likely,
        ...(open.isRefusal ? { isRefusal: true } : undefined),
      });
    } else {
      this.#finishThought({ type: 'reasoning', id, status, text }, open);
    }
  }
}
