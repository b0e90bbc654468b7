import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/** An import or a re-export, as it stands in a file. */
export interface ImportStatement {
  /** Relative to the root. */
  readonly file: string;
  /** Relative to the root, or the name of a package. */
  readonly target: string;
  readonly isOurs: boolean;
  readonly isTypeOnly: boolean;
}

/** The TypeScript files below a root, by their path from there. */
export function sourceFiles(root: string): string[] {
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file))
    .sort();
}

/** The imports and re-exports of files, those that are loaded later (`import('…')`) too. */
export function importStatements(root: string, files: readonly string[]): ImportStatement[] {
  return files.flatMap((file) => statementsIn(root, file));
}

const statement =
  /(?:^|\n)(?:import\s+(type\s+)?(?:[^'";=]*?\sfrom\s+)?|export\s+(type\s+)?(?:\*|\{[^}]*\})\s*from\s+)['"]([^'"]+)['"]/g;
const laterStatement = /\bimport\(\s*()()['"](\.[^'"]+)['"]/g;

function statementsIn(root: string, file: string): ImportStatement[] {
  const text = withoutComments(readFileSync(join(root, file), 'utf8'));
  const matches = [...text.matchAll(statement), ...text.matchAll(laterStatement)];
  return matches.map(([, importType, exportType, specifier = '']) => ({
    file,
    target: specifier.startsWith('.') ? relative(root, join(root, dirname(file), specifier)) : specifier,
    isOurs: specifier.startsWith('.'),
    isTypeOnly: (importType ?? exportType ?? '') !== '',
  }));
}

export function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '$1');
}

/** What leads back to itself, one list for each strongly connected component (Tarjan). */
export function findCircles(pairs: readonly (readonly [from: string, to: string])[]): string[][] {
  const targets = Map.groupBy(pairs, ([from]) => from);
  const order = new Map<string, number>();
  const open: string[] = [];
  const circles: string[][] = [];
  /** Returns the first file in `order` that `file` leads back to. */
  const visit = (file: string): number => {
    const own = order.size;
    order.set(file, own);
    open.push(file);
    let first = own;
    for (const [, target] of targets.get(file) ?? []) {
      if (!order.has(target)) first = Math.min(first, visit(target));
      else if (open.includes(target)) first = Math.min(first, order.get(target) ?? own);
    }
    if (first === own) {
      const component = open.splice(open.indexOf(file));
      if (component.length > 1) circles.push(component.sort());
    }
    return first;
  };
  for (const file of targets.keys()) if (!order.has(file)) visit(file);
  return circles;
}
