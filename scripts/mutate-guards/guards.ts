import { createHash } from 'node:crypto';
import { parseSync } from 'vite';

/**
 * `throw`: a condition that throws. `call`: a statement that calls `require…`, `refuse…`, `check…` and the like. `refusal`: a condition of the domain
 * that answers `false` or an empty list. `limit`: `.max(n)` or `.min(n)` of a zod schema. `scope`: the scope that a GraphQL field asks of a key.
 */
export type GuardKind = 'throw' | 'call' | 'refusal' | 'limit' | 'scope';

/** A place of `src` that refuses something, and what stands there instead in a mutant and in a run that records which tests meet it. */
export interface Guard {
  /** The same in later commits, as long as the file and the text of the guard are. */
  readonly key: string;
  readonly kind: GuardKind;
  readonly file: string;
  readonly line: number;
  readonly text: string;
  /** Without the guard. */
  readonly without: readonly Edit[];
  /** Calls `guardHit(key)` when the guard refuses, and where a call reports by other means than by throwing, `guardHit('?' + key)` before it; none for a scope. */
  readonly recording: readonly Edit[];
}

export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

type Node = Readonly<Record<string, unknown>> & { readonly type: string; readonly start: number; readonly end: number };

export function guardsOf(file: string, code: string): readonly Guard[] {
  const { program, errors } = parseSync(file, code);
  if (errors.length > 0) throw new Error(`${file} cannot be parsed: ${errors[0]?.message}`);
  const guards: Guard[] = [];
  const timesSeen = new Map<string, number>();
  visit(program, (node) => {
    const text = code.slice(node.start, node.end);
    const place = placeOf(node, file, code);
    if (place === undefined) return;
    const times = (timesSeen.get(text) ?? 0) + 1;
    timesSeen.set(text, times);
    const key = createHash('sha1').update(`${file}\n${text}\n${times}`).digest('hex').slice(0, 12);
    const line = code.slice(0, place.at ?? node.start).split('\n').length;
    guards.push({ key, kind: place.kind, file, line, text, without: place.without, recording: place.recording(key) });
  });
  return guards;
}

/** The code with edits, which may lie within each other but do not overlap otherwise. */
export function edited(code: string, edits: readonly Edit[]): string {
  return edits
    .toSorted((a, b) => b.start - a.start || b.end - a.end)
    .reduce((text, { start, end, text: instead }) => text.slice(0, start) + instead + text.slice(end), code);
}

interface Place {
  readonly kind: GuardKind;
  /** Where its line is counted, if not at the start of the node. */
  readonly at?: number;
  readonly without: readonly Edit[];
  recording(key: string): readonly Edit[];
}

function placeOf(node: Node, file: string, code: string): Place | undefined {
  if (node.type === 'IfStatement') return conditionOf(node, file);
  if (node.type === 'ExpressionStatement') return checkOf(node);
  if (node.type === 'CallExpression') return limitOf(node, code);
  if (node.type === 'Property') return scopeOf(node, code);
  return undefined;
}

function conditionOf(node: Node, file: string): Place | undefined {
  const { consequent, alternate } = node;
  if (!isNode(consequent) || isNode(alternate)) return undefined;
  const inner = consequent.type === 'BlockStatement' ? soleOf(consequent.body) : consequent;
  if (inner === undefined) return undefined;
  const isThrow = inner.type === 'ThrowStatement';
  if (isThrow ? !isRefusingThrow(inner) : !(file.startsWith('src/domain/') && isRefusal(inner))) return undefined;
  return {
    kind: isThrow ? 'throw' : 'refusal',
    without: [{ start: node.start, end: node.end, text: '{}' }],
    recording: (key) => [insertion(inner.start, `{ ${hit(key)}; `), insertion(inner.end, ' }')],
  };
}

/** Neither an error passed on nor a plain `Error`, which says what cannot happen. */
function isRefusingThrow({ argument }: Node): boolean {
  if (!isNode(argument) || argument.type === 'Identifier') return false;
  return !(argument.type === 'NewExpression' && ['Error', 'TypeError'].includes(nameOf(argument.callee)));
}

function isRefusal(node: Node): boolean {
  const { argument } = node;
  if (node.type !== 'ReturnStatement' || !isNode(argument)) return false;
  return (
    argument.value === false ||
    (argument.type === 'ArrayExpression' && soleOf(argument.elements) === undefined && isEmpty(argument.elements))
  );
}

function checkOf(node: Node): Place | undefined {
  const { expression } = node;
  const call = isNode(expression) && expression.type === 'AwaitExpression' ? expression.argument : expression;
  if (!isNode(call) || call.type !== 'CallExpression' || !isNode(call.callee)) return undefined;
  const name = call.callee.type === 'MemberExpression' ? nameOf(call.callee.property) : nameOf(call.callee);
  if (!/^(?:assert|require|check|refuse|ensure|demand|forbid)[A-Z]/.test(name)) return undefined;
  return {
    kind: 'call',
    without: [{ start: node.start, end: node.end, text: '{}' }],
    recording: (key) => [
      insertion(node.start, `try { ${hit(`?${key}`)}; `),
      insertion(node.end, ` } catch (guardError) { ${hit(key)}; throw guardError; }`),
    ],
  };
}

function limitOf(node: Node, code: string): Place | undefined {
  const { callee, arguments: given } = node;
  if (!isNode(callee) || callee.type !== 'MemberExpression' || !isNode(callee.object)) return undefined;
  const [limit, ...others] = Array.isArray(given) ? given : [];
  if (!['max', 'min'].includes(nameOf(callee.property)) || others.length > 0 || !isNode(limit)) return undefined;
  if (!/^z\s*\./.test(code.slice(callee.object.start, callee.object.end))) return undefined;
  return {
    kind: 'limit',
    at: limit.start,
    without: [{ start: callee.object.end, end: node.end, text: '' }],
    recording: (key) => [insertion(limit.end, `, { error: () => { ${hit(key)}; return undefined; } }`)],
  };
}

function scopeOf(node: Node, code: string): Place | undefined {
  const { key, value } = node;
  if (nameOf(key) !== 'authScopes' || !isNode(value) || value.type !== 'ObjectExpression') return undefined;
  if (!/\bkey\b/.test(code.slice(value.start, value.end))) return undefined;
  return {
    kind: 'scope',
    without: [{ start: value.start, end: value.end, text: '{ anyKey: true }' }],
    recording: () => [],
  };
}

function hit(key: string): string {
  return `globalThis.guardHit?.('${key}')`;
}

function insertion(at: number, text: string): Edit {
  return { start: at, end: at, text };
}

function soleOf(list: unknown): Node | undefined {
  const [first, ...others] = Array.isArray(list) ? list : [];
  return others.length === 0 && isNode(first) ? first : undefined;
}

function isEmpty(list: unknown): boolean {
  return Array.isArray(list) && list.length === 0;
}

function nameOf(node: unknown): string {
  return isNode(node) && typeof node.name === 'string' ? node.name : '';
}

function visit(value: unknown, take: (node: Node) => void): void {
  if (typeof value !== 'object' || value === null) return;
  if (isNode(value)) take(value);
  for (const member of Object.values(value)) visit(member, take);
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string' && 'start' in value;
}
