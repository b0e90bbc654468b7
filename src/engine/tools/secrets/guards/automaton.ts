import type { PatternInstruction, PatternProgram } from '../../json-schema/pattern-program.ts';

/** What patterns that read the same text may still find, or have found, behind one character of it. */
interface State {
  readonly table: Table;
  /** Where its row begins in the table. 0: no pattern may find anything that begins before this place and ends behind it. */
  readonly row: number;
  /** Places of the patterns that may have found something that ends here. */
  readonly ended: readonly number[];
  /** Instructions that wait for a character. */
  readonly waiting: readonly number[];
  /** What follows behind characters outside ASCII, as far as that has come before. */
  readonly others: Map<number, State>;
}

/** What patterns may have found in a text. */
export interface PartsOfText {
  /** Where a value may begin that goes on behind the text. */
  readonly open: number;
  readonly parts: readonly PartOfText[];
}

/** No value reaches into it, or out of it. */
export interface PartOfText {
  readonly from: number;
  readonly to: number;
  /** By the place of each pattern that may have found something in it, where the last of that ends. */
  readonly patterns: ReadonlyMap<number, number>;
}

/** Each takes half a kilobyte. */
const statesMax = 500;
/** The characters of ASCII. */
const rowLength = 128;
/** Of an entry: the row of the next state. */
const rowMask = -rowLength;
/** Of an entry, so that none is 0 that was made. */
const isMade = 1;
/** Of an entry: a pattern may have found something that ends there. */
const hasEnded = 2;

/** States, with a row of numbers for each: what follows it behind a character of ASCII, as far as that has come before. */
class Table {
  rows = new Int32Array(8 * rowLength);
  readonly states: State[] = [];
  readonly #byKey = new Map<string, State>();
  #othersCount = 0;

  constructor() {
    this.stateOf([], []);
  }

  get isFull(): boolean {
    return this.states.length + this.#othersCount >= statesMax;
  }

  stateOf(waiting: readonly number[], ended: readonly number[]): State {
    const key = `${waiting.join()} ${ended.join()}`;
    const known = this.#byKey.get(key);
    if (known !== undefined) return known;
    const row = this.states.length * rowLength;
    const made: State = { ended, table: this, row, waiting, others: new Map() };
    this.#byKey.set(key, made);
    this.states.push(made);
    if (row === this.rows.length) {
      const rows = new Int32Array(2 * row);
      rows.set(this.rows);
      this.rows = rows;
    }
    return made;
  }

  follow(state: State, codePoint: number, next: State): void {
    if (codePoint < rowLength) this.rows[state.row + codePoint] = next.row + isMade + (next.ended.length > 0 ? hasEnded : 0);
    else {
      state.others.set(codePoint, next);
      this.#othersCount += 1;
    }
  }

  /** @returns undefined for what has not come before. */
  next(state: State, codePoint: number): State | undefined {
    if (codePoint >= rowLength) return state.others.get(codePoint);
    const entry = this.rows[state.row + codePoint] ?? 0;
    return entry === 0 ? undefined : this.stateAt(entry & rowMask);
  }

  stateAt(row: number): State {
    const state = this.states[row / rowLength];
    if (state === undefined) throw new Error('a row has a state');
    return state;
  }
}

/**
 * Reads a text for many patterns at once: a look into a table for each character that came in such a state before. It finds at least what they find: what
 * depends on the place in the text, such as `^`, is as if it held anywhere.
 */
export class Automaton {
  readonly #instructions: readonly PatternInstruction[];
  /** The pattern that each instruction is of. */
  readonly #patterns: readonly number[];
  readonly #starts: readonly number[];
  /** The last one that was full is kept by streams that go on from its states. */
  #table = new Table();

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
    const reached = new Set<number>();
    for (const start of starts) this.#follow(start, reached);
    this.#starts = [...reached].filter((at) => instructions[at]?.matches !== undefined);
  }

  /** Where readers begin. */
  get table(): Table {
    return this.#table;
  }

  /** @param state  one that this automaton gave. */
  next(state: State, codePoint: number): State {
    return state.table.next(state, codePoint) ?? this.#makeNext(state, codePoint);
  }

  readParts(text: string): PartsOfText {
    const parts: PartOfText[] = [];
    let patterns: Map<number, number> | undefined;
    let open = 0;
    let state = this.#table.stateAt(0);
    let { rows } = state.table;
    let row = 0;
    for (let index = 0; index < text.length; index += 1) {
      const code = text.charCodeAt(index);
      const entry = code < rowLength ? (rows[row + code] ?? 0) : 0;
      let isEnd = (entry & hasEnded) !== 0;
      if (entry === 0) {
        // The other half of a character may follow.
        if (index + 1 === text.length && isFirstHalf(code)) break;
        const codePoint = text.codePointAt(index) ?? code;
        if (codePoint > 0xffff) index += 1;
        state = this.next(state.table.stateAt(row), codePoint);
        ({ rows } = state.table);
        ({ row } = state);
        isEnd = state.ended.length > 0;
      } else row = entry & rowMask;
      if (row === 0) {
        if (patterns !== undefined) parts.push({ from: open, to: index + 1, patterns });
        patterns = undefined;
        open = index + 1;
      } else if (isEnd) {
        patterns ??= new Map();
        for (const place of state.table.stateAt(row).ended) patterns.set(place, index + 1);
      }
    }
    if (patterns !== undefined) parts.push({ from: open, to: text.length, patterns });
    return { open, parts };
  }

  #makeNext(state: State, codePoint: number): State {
    const reached = new Set<number>();
    for (const at of [...state.waiting, ...this.#starts]) {
      const { matches, next = [] } = this.#instructions[at] ?? {};
      if (matches?.(codePoint) === true) for (const to of next) this.#follow(to, reached);
    }
    if (this.#table.isFull) this.#table = new Table();
    const made = this.#stateOf([...reached].toSorted((left, right) => left - right));
    if (state.table === this.#table) this.#table.follow(state, codePoint, made);
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
    return this.#table.stateOf(waiting, ended);
  }
}

/** Where a text that arrives in pieces stands in an automaton. */
export class AutomatonReader {
  readonly #automaton: Automaton;
  /** So many characters of what is open wait, at most. */
  readonly openMax: number;
  #table: Table;
  #row = 0;
  /** The first half of a character that takes two units. */
  #half = '';
  /** Characters since nothing could be found. */
  #openLength = 0;
  /** Whether a pattern may have found something that ends in what was read last, and may not go on. */
  hasEnded = false;
  /** Whether a pattern may have found something that may go on. */
  hasOpenEnd = false;

  constructor(automaton: Automaton, openMax: number) {
    this.#automaton = automaton;
    this.#table = automaton.table;
    this.openMax = openMax;
  }

  clear(): void {
    this.#table = this.#automaton.table;
    this.#row = 0;
    this.#half = '';
    this.#openLength = 0;
    this.hasEnded = false;
    this.hasOpenEnd = false;
  }

  /** Reads a part of a text, which follows the last one. @returns how many characters are open at its end. */
  read(text: string, from: number, to: number): number {
    this.hasEnded = false;
    if (this.#half !== '') return this.#readHalf(text, from, to);
    const { rows } = this.#table;
    let row = this.#row;
    let open = from - this.#openLength;
    for (let index = from; index < to; index += 1) {
      const code = text.charCodeAt(index);
      const entry = code < rowLength ? (rows[row + code] ?? 0) : 0;
      if (entry === 0) {
        this.#row = row;
        this.#openLength = index - open;
        return this.#readAll(text, index, to);
      }
      if ((entry & hasEnded) !== 0) this.hasOpenEnd = true;
      row = entry & rowMask;
      if (row === 0) {
        this.#close();
        open = index + 1;
      }
    }
    this.#row = row;
    this.#openLength = to - open;
    return to - open;
  }

  /** Also what the table does not know. */
  #readAll(text: string, from: number, to: number): number {
    let state = this.#table.stateAt(this.#row);
    let open = from - this.#openLength;
    let index = from;
    for (; index < to; index += 1) {
      if (index + 1 === to && isFirstHalf(text.charCodeAt(index))) break;
      const codePoint = text.codePointAt(index) ?? 0;
      if (codePoint > 0xffff) index += 1;
      state = this.#automaton.next(state, codePoint);
      if (state.ended.length > 0) this.hasOpenEnd = true;
      if (state.row === 0) {
        this.#close();
        open = index + 1;
      }
    }
    if (index < to) this.#half = text.slice(index, to);
    this.#table = state.table;
    this.#row = state.row;
    this.#openLength = to - open;
    return to - open;
  }

  #readHalf(text: string, from: number, to: number): number {
    const piece = this.#half + text.slice(from, to);
    this.#openLength -= this.#half.length;
    this.#half = '';
    return this.#readAll(piece, 0, piece.length);
  }

  #close(): void {
    if (!this.hasOpenEnd) return;
    this.hasOpenEnd = false;
    this.hasEnded = true;
  }
}

/** Of a character that takes two units. */
function isFirstHalf(code: number): boolean {
  return code >= 0xd800 && code < 0xdc00;
}
