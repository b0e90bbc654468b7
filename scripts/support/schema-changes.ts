import { CriticalityLevel, diff } from '@graphql-inspector/core';
import { buildSchema } from 'graphql';

/** A change of the schema that documents of the last release may not survive. */
export interface BreakingChange {
  /** `Agent.seed`, `Query.agents.first`, or a type. */
  readonly coordinate: string;
  readonly message: string;
}

/** What @graphql-inspector calls breaking between two schemas. */
export async function breakingChanges(before: string, after: string): Promise<readonly BreakingChange[]> {
  const changes = await diff(buildSchema(before), buildSchema(after));
  return changes
    .filter(({ criticality }) => criticality.level === CriticalityLevel.Breaking)
    .map(({ path = '', message }) => ({ coordinate: path, message }));
}

/**
 * The changes that no page tells.
 *
 * @param pages  texts that name what changed in backticks: the coordinate, the type that it belongs to, or the name of an operation.
 */
export function untold(changes: readonly BreakingChange[], pages: readonly string[]): readonly BreakingChange[] {
  const names = new Set(pages.flatMap((page) => [...page.matchAll(/`([^`]+)`/g)].flatMap(([, code = '']) => wordsOf(code))));
  return changes.filter(({ coordinate }) => !namesOf(coordinate).some((name) => names.has(name)));
}

/** `Run.error { code }` names `Run.error`, `Run` and `error`; so does `Run.error(first)`. */
function wordsOf(code: string): readonly string[] {
  return code.match(/[A-Za-z_]\w*(?:\.\w+)*/g) ?? [];
}

function namesOf(coordinate: string): readonly string[] {
  const [type = '', ...members] = coordinate.split('.');
  const whole = members.map((_member, index) => [type, ...members.slice(0, index + 1)].join('.'));
  const isRoot = ['Query', 'Mutation', 'Subscription'].includes(type);
  return [...whole, ...(isRoot ? members.slice(0, 1) : [type])];
}
