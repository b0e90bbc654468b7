import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseSync } from 'vite';

/** What a file of `src` loads: other files by their path, packages by their name. Types are not loaded. */
export type LoadedModules = ReadonlyMap<string, readonly string[]>;

/** By file of `src`, what it loads: imports, exports of other files, `import()` and `require()`. */
export function loadedModules(): LoadedModules {
  const files = globSync('src/**/*.{ts,tsx,js}').filter((file) => !file.endsWith('.d.ts'));
  return new Map(files.map((file) => [file, targetsOf(file)]));
}

/** Packages that a process loads at any time, each with the files that name it. Processes that it starts are others. */
export function packagesOf(modules: LoadedModules, entry: string): ReadonlyMap<string, readonly string[]> {
  const waiting = [entry];
  const seen = new Set<string>(waiting);
  const packages = new Map<string, string[]>();
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    for (const target of modules.get(file) ?? []) {
      if (target === 'package.json') continue;
      if (!target.startsWith('src/')) packages.set(target, [...(packages.get(target) ?? []), file]);
      else if (!seen.has(target)) {
        seen.add(target);
        waiting.push(target);
      }
    }
  }
  return packages;
}

function targetsOf(file: string): readonly string[] {
  const { program } = parseSync(file, readFileSync(file, 'utf8'));
  const targets = new Set<string>();
  visit(program, (node) => {
    const target = loadedBy(node);
    if (target?.startsWith('.')) targets.add(join(dirname(file), target));
    else if (target !== undefined) targets.add(packageOf(target));
  });
  return [...targets];
}

function loadedBy(node: Readonly<Record<string, unknown>>): string | undefined {
  if (node.type === 'CallExpression') {
    const [first] = Array.isArray(node.arguments) ? node.arguments : [];
    return textIn(node.callee, 'name') === 'require' ? textIn(first, 'value') : undefined;
  }
  const loads = ['ImportDeclaration', 'ExportNamedDeclaration', 'ExportAllDeclaration', 'ImportExpression'];
  const isType = node.importKind === 'type' || node.exportKind === 'type';
  return loads.includes(String(node.type)) && !isType ? textIn(node.source, 'value') : undefined;
}

/** `turndown/lib/x.js` is `turndown`. Modules of Node keep their name. */
function packageOf(target: string): string {
  if (target.startsWith('node:')) return target;
  return target.split('/', target.startsWith('@') ? 2 : 1).join('/');
}

function textIn(node: unknown, member: string): string | undefined {
  const value = isNode(node) ? node[member] : undefined;
  return typeof value === 'string' ? value : undefined;
}

function visit(value: unknown, take: (node: Readonly<Record<string, unknown>>) => void): void {
  if (!isNode(value)) return;
  if (typeof value.type === 'string') take(value);
  for (const member of Object.values(value)) visit(member, take);
}

function isNode(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
