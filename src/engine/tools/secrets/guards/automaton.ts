import type { PatternInstruction, PatternProgram } from '../../json-schema/pattern-program.ts';

/** What patterns that read the same text may still find, or have found, behind one character of it. */
export interface AutomatonState {
  /** No pattern may find anything that begins before this place and ends behind it. */
  readonly isIdle: boolean;
  readonly hasEnded: boolean;
  /** Places of the patterns that may have found something that ends here. */
  readonly ended: readonly number[];
  /** What follows behind a character, as far as that has come before. */
  readonly ascii: readonly (AutomatonState | undefined)[];
}

interface State extends AutomatonState {
  /** Instructions that wait for a character. */
  readonly waiting: readonly number[];
  readonly ascii: (State | undefined)[];
  readonly others: Map<number, State>;
}

/** Each takes a kilobyte. */
const statesMax = 500;

/**
 * Reads a text for many patterns at once: a look into a table for each character that came in such a state before. It finds at least what they find: what
 * depends on the place in the text, such as `^`, is as if it held anywhere.
 */
export class Automaton {
  readonly #instructions: readonly PatternInstruction[];
  /** The pattern that each instruction is of. */
  readonly #patterns: readonly number[];
  readonly #starts: readonly number[];
  #states = new Map<string, State>();
  #count = 0;
  readonly #idle: State;

  constructor(programs: readonly PatternProgram[]) {
    const instructions: PatternInstruction[] = [];
    const patterns: number[] = [];
    const starts: number[] = [];
    for (const [index, program] of programs.entries()) {
      const offset = instructions.length;
      starts.push(offset + program.start);
      for (const instruction of program.instructions) {
        instructions.push({ ...instruction, next: instruction.next.map((at) => at + offset) });
        patterns.push(index);
      }
    }
    this.#instructions = instructions;
    this.#patterns = patterns;
    this.#idle = this.#stateOf([]);
    const reached = new Set<number>();
    for (const start of starts) this.#follow(start, reached);
    this.#starts = [...reached].filter((at) => instructions[at]?.matches !== undefined);
  }

  get idle(): AutomatonState {
    return this.#idle;
  }

  /** @param state  one that this automaton gave. */
  next(state: AutomatonState, codePoint: number): AutomatonState {
    const { ascii, others } = state as State;
    const known = codePoint < 128 ? ascii[codePoint] : others.get(codePoint);
    return known ?? this.#makeNext(state as State, codePoint);
  }

  #makeNext(state: State, codePoint: number): State {
    const reached = new Set<number>();
    for (const at of [...state.waiting, ...this.#starts]) {
      const { matches, next = [] } = this.#instructions[at] ?? {};
      if (matches?.(codePoint) === true) for (const to of next) this.#follow(to, reached);
    }
    if (this.#count >= statesMax) this.#forget();
    const made = this.#stateOf([...reached].toSorted((left, right) => left - right));
    this.#count += codePoint < 128 ? 0 : 1;
    if (codePoint < 128) state.ascii[codePoint] = made;
    else state.others.set(codePoint, made);
    return made;
  }

  /** All that is reached without a further character. */
  #follow(from: number, reached: Set<number>): void {
    const open = [from];
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      if (reached.has(at)) continue;
      reached.add(at);
      const instruction = this.#instructions[at];
      if (instruction !== undefined && instruction.matches === undefined) open.push(...instruction.next);
    }
  }

  #stateOf(reached: readonly number[]): State {
    const waiting = reached.filter((at) => this.#instructions[at]?.matches !== undefined);
    const ended = reached.flatMap((at) => (this.#instructions[at]?.isEnd === true ? [this.#patterns[at] ?? 0] : []));
    const key = `${waiting.join()} ${ended.join()}`;
    const known = this.#states.get(key);
    if (known !== undefined) return known;
    const isIdle = waiting.length + ended.length === 0;
    const made: State = {
      isIdle,
      hasEnded: ended.length > 0,
      ended,
      waiting,
      ascii: Array.from({ length: 128 }),
      others: new Map(),
    };
    this.#states.set(key, made);
    this.#count += 1;
    return made;
  }

  /** Streams go on from states that are forgotten here. */
  #forget(): void {
    this.#states = new Map([[' ', this.#idle]]);
    this.#idle.ascii.fill(undefined);
    this.#idle.others.clear();
    this.#count = 1;
  }
}

/** Where a text that arrives in pieces stands in an automaton. */
export class AutomatonReader {
  readonly #automaton: Automaton;
  #state: AutomatonState;
  /** The first half of a character that takes two units. */
  #half = '';
  /** Characters since nothing could be found. */
  openLength = 0;

  constructor(automaton: Automaton) {
    this.#automaton = automaton;
    this.#state = automaton.idle;
  }

  clear(): void {
    this.#state = this.#automaton.idle;
    this.#half = '';
    this.openLength = 0;
  }

  /** @returns whether a pattern may have found something. */
  read(piece: string): boolean {
    const text = this.#half === '' ? piece : this.#half + piece;
    const automaton = this.#automaton;
    let hasEnded = false;
    let state = this.#state;
    let open = this.#half.length - this.openLength;
    let index = 0;
    for (; index < text.length; index += 1) {
      let codePoint = text.charCodeAt(index);
      if (codePoint >= 0xd800 && codePoint < 0xdc00) {
        if (index + 1 === text.length) break;
        codePoint = text.codePointAt(index) ?? codePoint;
        if (codePoint > 0xffff) index += 1;
      }
      state = state.ascii[codePoint] ?? automaton.next(state, codePoint);
      if (state.isIdle) open = index + 1;
      else if (state.hasEnded) hasEnded = true;
    }
    this.#half = index < text.length ? text.slice(index) : '';
    this.#state = state;
    this.openLength = text.length - open;
    return hasEnded;
  }
}
