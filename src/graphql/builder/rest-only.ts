import { type GraphQLField, getNamedType, isInputObjectType } from 'graphql';
import { DomainError } from '../../entities/errors.ts';
import { isObject } from '../../lib/json.ts';
import type { GraphContext } from './context.ts';

/** Members that choose the form of a REST reply. Over GraphQL they would have no effect: the operation decides. */
export const restOnly = { isRestOnly: true } as const;

/** Where such a member has an effect: `stream: false` holds a text back until it fits its format. */
const served: ReadonlySet<string> = new Set(['newResponseEvents.stream']);

type Arguments = Readonly<Record<string, unknown>>;

/**
 * The check of a root field that has such members, as an argument or in `input`; undefined when it has none.
 *
 * @throws (the check) DomainError UNSUPPORTED_VALUE naming the member, for a call that did not come over REST.
 */
export function restOnlyCheck({
  name: operation,
  args,
}: GraphQLField<unknown, GraphContext>): ((given: Arguments) => void) | undefined {
  const names = args.filter(({ extensions }) => extensions.isRestOnly === true).map(({ name }) => name);
  const input = args.find(({ name }) => name === 'input');
  const type = input === undefined ? undefined : getNamedType(input.type);
  const fields = isInputObjectType(type) ? Object.values(type.getFields()) : [];
  const members = fields
    .filter(({ name, extensions }) => extensions.isRestOnly === true && !served.has(`${operation}.${name}`))
    .map(({ name }) => name);
  if (names.length + members.length === 0) return undefined;
  return (given) => {
    refuseAny(names, given);
    if (isObject(given.input)) refuseAny(members, given.input);
  };
}

function refuseAny(names: readonly string[], given: Arguments): void {
  for (const param of names) {
    if (given[param] === undefined || given[param] === null) continue;
    const message = `${param} has no effect over GraphQL: a query or mutation answers whole, a subscription gives the events`;
    throw new DomainError('UNSUPPORTED_VALUE', message, { param });
  }
}
