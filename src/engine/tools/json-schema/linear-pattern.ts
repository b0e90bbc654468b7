import { RE2JS } from 're2js';
import { type PatternProgram, programOf } from './pattern-program.ts';

/** A pattern that tests a text in time proportional to its length, whatever both are: callers write patterns, and models write texts. */
export interface LinearPattern {
  /** Instructions of the compiled pattern: steps for one character of text, at most. */
  readonly states: number;
  test(text: string): boolean;
  /**
   * Calls `take` with the place of each match that is not empty and begins at `from` or behind it, in the order of the text.
   *
   * @param lastEnd  no match ends behind it.
   */
  each(text: string, take: (start: number, end: number) => void, from?: number, lastEnd?: number): void;
  /** Its program, which finds at least what the pattern finds; undefined for patterns that have none. */
  program(): PatternProgram | undefined;
}

/** A pattern that is not one, or that could take more than linear time. The message ends a sentence: "the pattern …". */
export class PatternError extends Error {
  override readonly name = 'PatternError';
}

const lengthMax = 500;
const statesMax = 400;
const compileSteps = 5_000;
/** What compiling one instruction counts as, next to testing it with one character. */
const stepsPerState = 10;

/**
 * Compiles a regular expression of JSON Schema with RE2, which never goes back.
 *
 * @param spend  takes the steps that compiling costs, also of a pattern that is refused, and throws when they are too many.
 * @throws PatternError for what RE2 cannot do (look-around, back-references), for too big ones, and for what is no regular expression.
 */
export function compileLinearPattern(source: string, spend: (steps: number) => void): LinearPattern {
  spend(compileSteps);
  if (source.length > lengthMax) throw new PatternError(`has more than ${lengthMax} characters`);
  const expression = compileExpression(source);
  const states = expression.programSize();
  spend(states * stepsPerState);
  if (states > statesMax) throw new PatternError(`needs more than ${statesMax} states`);
  return {
    states,
    test: (text) => expression.test(text),
    each(text, take, from = 0, lastEnd = text.length) {
      const matcher = expression.matcher(text);
      let isFound = matcher.find(from);
      while (isFound) {
        const end = matcher.end();
        if (end > matcher.start()) take(matcher.start(), end);
        isFound = end < lastEnd && matcher.find();
      }
    },
    program: () => programOf(source, isReadable(source, 'u')),
  };
}

function compileExpression(source: string): RE2JS {
  if (!isRegularExpression(source)) throw new PatternError('is not a regular expression');
  try {
    return RE2JS.compile(translated(source));
  } catch {
    throw new PatternError('uses what RE2 does not support, such as look-around, back-references, or too many repetitions');
  }
}

/** In its older syntax ECMAScript takes letters behind a backslash for themselves that are commands of RE2. */
function isRegularExpression(source: string): boolean {
  return isReadable(source, 'u') || (isReadable(source, '') && !/\\[ACEPQapz]/.test(source));
}

function isReadable(source: string, flags: string): boolean {
  try {
    return new RegExp(source, flags) !== undefined;
  } catch {
    return false;
  }
}

const spaces = '\\t-\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}';
const otherThanSpaces =
  '\\x00-\\x08\\x0e-\\x1f!-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}' +
  '\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}';

/** Writes out what RE2 reads otherwise than ECMAScript: white space, `.`, and within `[…]` another `[` and a `-` behind a class like `\w`. */
function translated(source: string): string {
  let isInside = false;
  return RE2JS.translateRegExp(source).replace(/\\([dDsSwW])(-?)|\\[\s\S]|[[\].]/g, (token, name?: string, dash = '') => {
    if (name !== undefined) {
      const set = name === 's' ? spaces : name === 'S' ? otherThanSpaces : `\\${name}`;
      return isInside ? `${set}${dash === '' ? '' : '\\-'}` : `[${set}]${dash}`;
    }
    if (token === '.') return isInside ? token : '[^\\n\\r\\x{2028}\\x{2029}]';
    if (token === '[' && isInside) return '\\[';
    if (token === '[' || token === ']') isInside = token === '[';
    return token;
  });
}
