import type { ThreadMode } from '../documents.ts';

const prefix = 'parley.draft.';
const storedAfterMs = 300;

/** A message that is sent as soon as the one before it has arrived. */
interface DueMessage {
  readonly threadMode: ThreadMode | undefined;
}

/**
 * What is written in the box of a chat and not sent, for `useSyncExternalStore`; it stays in this browser. It outlives its box, so that a message that
 * is refused after the reader went elsewhere is still given back.
 */
export class Draft {
  readonly #storedAs: string;
  readonly #listeners = new Set<() => void>();
  readonly #textsOnTheirWay = new Set<string>();
  #text: string;
  #seed = '';
  #due: DueMessage | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(place: string) {
    this.#storedAs = prefix + place;
    this.#text = localStorage.getItem(this.#storedAs) ?? '';
  }

  readonly getSnapshot = (): string => this.#text;

  /** Set once the text is to be sent by itself. */
  readonly getDue = (): DueMessage | undefined => (this.#textsOnTheirWay.size === 0 ? this.#due : undefined);

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
      this.store();
    };
  };

  readonly write = (text: string): void => {
    this.#show(text);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.store(), storedAfterMs);
  };

  /** What an agent begins the box with, where nothing else is written. It is not stored. */
  seed(text: string): void {
    if (this.#text !== '' && this.#text !== this.#seed) return;
    this.#seed = text;
    this.#show(text);
  }

  /**
   * Empties the box: its text is on its way, and stays stored until it arrives.
   *
   * @returns what is called once with whether it arrived. A text that did not stands in the box again, before what was written since.
   */
  send(): (hasArrived: boolean) => void {
    const text = this.#text;
    this.#due = undefined;
    this.#textsOnTheirWay.add(text);
    this.#show('');
    return (hasArrived) => {
      this.#textsOnTheirWay.delete(text);
      if (hasArrived) this.#tell();
      else {
        this.#due = undefined;
        this.#show(joinTexts([text, this.#text]));
      }
      this.store();
    };
  }

  /** Sends the text once the message before it has arrived, unless that is refused or the text changes. */
  sendLater(threadMode: ThreadMode | undefined): void {
    this.#due = { threadMode };
    this.#tell();
  }

  /** Gives what was written here to another place: a new chat got its address. */
  moveTo(place: string): void {
    if (this.#text !== '' && this.#text !== this.#seed) {
      const target = getDraft(place);
      target.write(this.#text);
      target.#due = this.#due;
    }
    this.write('');
  }

  store(): void {
    clearTimeout(this.#timer);
    const text = joinTexts([...this.#textsOnTheirWay, this.#text]);
    try {
      if (text === '' || text === this.#seed) localStorage.removeItem(this.#storedAs);
      else localStorage.setItem(this.#storedAs, text);
    } catch {
      // The storage of the browser is full: the draft stays in the box.
    }
  }

  #show(text: string): void {
    if (text === this.#text) return;
    this.#text = text;
    this.#due = undefined;
    this.#tell();
  }

  #tell(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}

const joinTexts = (texts: readonly string[]) => texts.filter((text) => text !== '').join('\n\n');

const drafts = new Map<string, Draft>();

/** The draft of a place: the id of a chat, or `new`. */
export function getDraft(place: string): Draft {
  const draft = drafts.get(place) ?? new Draft(place);
  drafts.set(place, draft);
  return draft;
}

addEventListener('pagehide', () => {
  for (const draft of drafts.values()) draft.store();
});
