import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments, stringify } from 'yaml';

// biome-ignore lint/suspicious/noExplicitAny: manifests of any kind, looked into member by member.
export type Manifest = any;

/**
 * Renders a chart of Helm: `if`, `else`, `end`, `.Values.…`, `.Release.Name` and `toYaml … | indent n`, which is all that ours use. Written because
 * Helm is a program in Go that this machine does not have.
 *
 * @param values  replaces values of the chart, member by member.
 * @throws Error for any other action of a template, a value that the chart does not have, and YAML with errors.
 */
export function renderChart(folder: string, release: string, values: object = {}): readonly Manifest[] {
  const given = merged(parse(readFileSync(join(folder, 'values.yaml'), 'utf8')), values);
  const scope = { Values: given, Release: { Name: release } };
  const templates = join(folder, 'templates');
  return readdirSync(templates).flatMap((name) => {
    const text = render(readFileSync(join(templates, name), 'utf8'), scope, name);
    const documents = parseAllDocuments(text);
    const [problem] = documents.flatMap(({ errors }) => errors);
    if (problem !== undefined) throw new Error(`${name}: ${problem.message}\n${text}`);
    return documents.map((document) => document.toJS()).filter((document) => document !== null);
  });
}

function merged(base: Manifest, more: Manifest): Manifest {
  if (typeof base !== 'object' || typeof more !== 'object' || base === null || more === null) return more;
  const known = Object.keys(more).map((name) => [name, name in base ? merged(base[name], more[name]) : more[name]]);
  return { ...base, ...Object.fromEntries(known) };
}

function render(template: string, scope: object, name: string): string {
  // `{{-` takes the white space before it away, `-}}` that behind it.
  const parts = template
    .replaceAll(/\s*\{\{- /g, '{{ ')
    .replaceAll(/ -\}\}\s*/g, ' }}')
    .split(/(\{\{ .*? \}\})/);
  let out = '';
  /** Of each open `if`: whether its part is written. */
  const open: boolean[] = [];
  for (const part of parts) {
    const action = /^\{\{ (.*) \}\}$/.exec(part)?.[1];
    const [word = '', path = ''] = (action ?? '').split(' ');
    if (action === undefined) out += open.every(Boolean) ? part : '';
    else if (word === 'if') open.push(isTrue(readValue(path, scope, name)));
    else if (word === 'else') open.push(!open.pop());
    else if (word === 'end') open.pop();
    else if (open.every(Boolean)) out += written(action, scope, name);
  }
  if (open.length > 0) throw new Error(`${name}: an if without an end`);
  return out;
}

function written(action: string, scope: object, name: string): string {
  const [, path, columns] = /^toYaml (\S+) \| indent (\d+)$/.exec(action) ?? [];
  if (path === undefined) return String(readValue(action, scope, name));
  const text = stringify(readValue(path, scope, name), { lineWidth: 0 }).trimEnd();
  return text.replaceAll(/^/gm, ' '.repeat(Number(columns)));
}

function readValue(path: string, scope: object, name: string): unknown {
  if (!/^(\.\w+)+$/.test(path)) throw new Error(`${name}: an action that is not known: ${path}`);
  let value: Manifest = scope;
  for (const member of path.slice(1).split('.')) {
    if (value?.[member] === undefined) throw new Error(`${name}: the chart has no value ${path}`);
    value = value[member];
  }
  return value;
}

/** As Go's templates see it. */
function isTrue(value: unknown): boolean {
  return typeof value === 'object' && value !== null ? Object.keys(value).length > 0 : Boolean(value);
}
