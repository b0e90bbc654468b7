import { globSync, readFileSync } from 'node:fs';
import { parseSync } from 'vite';

/** A regular expression that stands in the code. */
export interface Pattern {
  /** File and line. */
  readonly at: string;
  readonly source: string;
  readonly flags: string;
}

export interface Patterns {
  readonly literals: readonly Pattern[];
  /** Files that make expressions of text, once for each place. */
  readonly constructors: readonly string[];
}

/** Every regular expression of a folder, by the syntax tree of its files. */
export function patternsOf(folder: string): Patterns {
  const literals: Pattern[] = [];
  const constructors: string[] = [];
  for (const file of globSync(`${folder}/**/*.{ts,js}`).sort()) {
    const code = readFileSync(file, 'utf8');
    const { program, errors } = parseSync(file, code);
    if (errors.length > 0) throw new Error(`${file} cannot be parsed: ${errors[0]?.message}`);
    walk(program, (node) => {
      if (isRegexNode(node)) {
        const line = code.slice(0, node.start).split('\n').length;
        literals.push({ at: `${file}:${line}`, source: node.regex.pattern, flags: node.regex.flags });
      } else if (isConstructorNode(node)) constructors.push(file);
    });
  }
  return { literals, constructors };
}

function walk(value: unknown, visit: (node: object) => void): void {
  if (typeof value !== 'object' || value === null) return;
  if ('type' in value) visit(value);
  for (const member of Object.values(value)) walk(member, visit);
}

function isRegexNode(node: object): node is { start: number; regex: { pattern: string; flags: string } } {
  return 'regex' in node && typeof node.regex === 'object' && node.regex !== null;
}

function isConstructorNode(node: object): boolean {
  if (!('callee' in node) || typeof node.callee !== 'object' || node.callee === null) return false;
  return 'name' in node.callee && node.callee.name === 'RegExp';
}
