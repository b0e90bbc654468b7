import { type Atom, type Node, PatternError, parsePattern } from './pattern-syntax.ts';

/** A pattern that tests a text in time proportional to its length, whatever both are: callers write patterns, and models write texts. */
export interface LinearPattern {
  /** Steps for one character of text, at most. */
  readonly states: number;
  test(text: string): boolean;
}

/** States of one automaton; with the longest text a pattern is tried on, this bounds the work of one test. */
const statesMax = 400;
/** Parts put into one automaton. A group with nothing in it makes no state, however often it is repeated, and groups nest. */
const partsMax = 10_000;

type State =
  | { readonly kind: 'match' }
  | { readonly kind: 'atom'; readonly atom: Atom; next: number }
  | { readonly kind: 'split'; next: number; other: number }
  | { readonly kind: 'start' | 'end'; next: number };

/**
 * Compiles a regular expression of JSON Schema into an automaton that never goes back.
 *
 * @throws PatternError for what such an automaton cannot do (look-around, back-references, word boundaries), and for too big ones.
 */
export function compileLinearPattern(source: string): LinearPattern {
  const automaton = new Automaton();
  const start = automaton.build(parsePattern(source), automaton.add({ kind: 'match' }));
  return { states: automaton.states.length, test: (text) => run(automaton.states, start, text) };
}

class Automaton {
  readonly states: State[] = [];
  private parts = 0;

  add(state: State): number {
    if (this.states.length >= statesMax) throw new PatternError(`needs more than ${statesMax} states`);
    return this.states.push(state) - 1;
  }

  /** The state where `node` begins when `next` follows it. */
  build(node: Node, next: number): number {
    this.parts += 1;
    if (this.parts > partsMax) throw new PatternError(`repeats things more than ${partsMax} times in all`);
    switch (node.kind) {
      case 'atom':
        return this.add({ kind: 'atom', atom: node.atom, next });
      case 'start':
      case 'end':
        return this.add({ kind: node.kind, next });
      case 'sequence':
        return node.nodes.reduceRight((after, part) => this.build(part, after), next);
      case 'choice':
        return node.nodes
          .map((part) => this.build(part, next))
          .reduceRight((other, begin) => this.add({ kind: 'split', next: begin, other }));
      case 'repeat':
        return this.repeat(node, next);
    }
  }

  private repeat({ node, min, max }: Node & { readonly kind: 'repeat' }, next: number): number {
    let begin = next;
    if (max === Number.POSITIVE_INFINITY) {
      const split: State = { kind: 'split', next: -1, other: next };
      begin = this.add(split);
      split.next = this.build(node, begin);
    } else {
      for (let count = min; count < max; count += 1) {
        begin = this.add({ kind: 'split', next: this.build(node, begin), other: next });
      }
    }
    for (let count = 0; count < min; count += 1) begin = this.build(node, begin);
    return begin;
  }
}

/** Walks all ways at once: each state is entered at most once for each character. */
function run(states: readonly State[], start: number, text: string): boolean {
  const characters = [...text];
  const seenAt = new Int32Array(states.length).fill(-1);
  let current: number[] = [];
  for (let place = 0; place <= characters.length; place += 1) {
    const open = [...current, start];
    const atoms: (State & { readonly kind: 'atom' })[] = [];
    for (let index = open.pop(); index !== undefined; index = open.pop()) {
      if (seenAt[index] === place) continue;
      seenAt[index] = place;
      const state = states[index];
      if (state === undefined) continue;
      if (state.kind === 'match') return true;
      if (state.kind === 'atom') atoms.push(state);
      else if (state.kind === 'split') open.push(state.next, state.other);
      else if (state.kind === 'start' ? place === 0 : place === characters.length) open.push(state.next);
    }
    const character = characters[place];
    current = character === undefined ? [] : atoms.filter(({ atom }) => atom(character)).map(({ next }) => next);
  }
  return false;
}
