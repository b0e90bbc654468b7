import {
  type GraphQLField,
  type GraphQLInputType,
  getNullableType,
  isInputObjectType,
  isListType,
  isRequiredInputField,
} from 'graphql';
import { type IdKind, kindOfId } from '../../../src/entities/ground/ids.ts';
import type { Arguments } from './calls.ts';

type Path = readonly (string | number)[];

/** A place in a call that holds, or may hold, one of Parley's ids. */
export interface IdPosition {
  readonly path: Path;
  /** The kinds that the name allows; undefined where any id may be. */
  readonly kinds: readonly IdKind[] | undefined;
  /** Makes the value for this place. */
  readonly write: (id: string) => unknown;
}

/** Names that do not tell which kind of id they hold. */
const kindsByName: Readonly<Record<string, readonly IdKind[]>> = {
  groups: ['group'],
  orgId: ['organization'],
  actorUserId: ['user'],
  editors: ['user'],
  categoryId: ['agentCategory'],
  orgCategoryIds: ['agentCategory'],
  dataSourceIds: ['dataSource'],
  fileId: ['chatFile'],
  systemMessageId: ['message'],
  connectionId: ['oauthToken', 'repoHostInstallation', 'mcpServer'],
  driveAccount: ['oauthToken'],
  previousResponseId: ['response', 'run'],
  reference: ['message', 'reasoning'],
  model: ['agent'],
  modelId: ['agent'],
};
const idName = /(^id|Ids?)$/;

/** Values of inputs with an id beside other members that it needs, or deeper inside than the walk goes. */
const valuesWithId: Readonly<Record<string, readonly Pick<IdPosition, 'kinds' | 'write'>[]>> = {
  FlowChoiceInput: [{ kinds: ['agentFlow'], write: (id) => ({ id, isForced: true, version: 1 }) }],
  RunItemInput: [
    { kinds: ['chatFile'], write: (fileId) => ({ message: { role: 'USER', content: { parts: [{ file: { fileId } }] } } }) },
    { kinds: ['chatFile'], write: (fileId) => ({ message: { role: 'USER', content: { parts: [{ image: { fileId } }] } } }) },
  ],
  RunInput: [
    {
      kinds: ['chatFile'],
      write: (fileId) => ({
        items: [
          { functionCall: { callId: 'call_1', name: 'look', arguments: '{}' } },
          { functionOutput: { callId: 'call_1', output: { parts: [{ image: { fileId } }] } } },
        ],
      }),
    },
  ],
  CompletionMessageInput: [{ kinds: ['chatFile'], write: (fileId) => ({ user: { parts: [{ fileId }] } }) }],
};

/** Every place for an id in a call that otherwise works. */
export function idPositions(field: GraphQLField<unknown, unknown>, given: Arguments): readonly IdPosition[] {
  return field.args.flatMap(({ name, type }) => walk(type, [name], given[name]));
}

/** The call with another id in that place. */
export function withId(given: Arguments, { path, write }: IdPosition, id: string): Arguments {
  return setAt(given, path, write(id)) as Arguments;
}

function walk(type: GraphQLInputType, path: Path, base: unknown): readonly IdPosition[] {
  if (path.length > 6) return [];
  const bare = getNullableType(type);
  if (isListType(bare)) return walk(bare.ofType, [...path, 0], Array.isArray(base) ? base[0] : undefined);
  if (isInputObjectType(bare)) {
    const fields = Object.values(bare.getFields());
    const values = (base ?? {}) as Arguments;
    const whole = (valuesWithId[bare.name] ?? []).map((value) => ({ ...value, path }));
    // Another member of a choice takes the place of the one that is given.
    if (bare.isOneOf) {
      const choices = fields.flatMap(({ name, type: inner }) =>
        walk(inner, [...path, name], values[name]).map((position) => ({
          ...position,
          path,
          write: (id: string) => setAt({}, position.path.slice(path.length), position.write(id)),
        })),
      );
      return [...choices, ...whole];
    }
    const members = fields.flatMap((field) => {
      const lacksOthers = fields.some(
        (other) => other !== field && isRequiredInputField(other) && values[other.name] === undefined,
      );
      return lacksOthers ? [] : walk(field.type, [...path, field.name], values[field.name]);
    });
    return [...members, ...whole];
  }
  const name = String(path.findLast((part) => typeof part === 'string'));
  if (bare.name !== 'ID' && !(bare.name === 'String' && (idName.test(name) || kindsByName[name] !== undefined))) return [];
  return [{ path, kinds: kindsOf(path, name, base), write: (id) => id }];
}

function kindsOf(path: Path, name: string, base: unknown): readonly IdKind[] | undefined {
  const found = typeof base === 'string' ? kindOfId(base) : undefined;
  if (found !== undefined) return [found];
  const kind = name.replace(/Ids?$/, '');
  if (kind === 'agent' || kind === 'user' || kind === 'group' || kind === 'tenant' || kind === 'chat' || kind === 'run')
    return [kind];
  return kindsByName[name] ?? kindsByName[String(path.at(-3))];
}

function setAt(value: unknown, [first, ...rest]: Path, leaf: unknown): unknown {
  if (first === undefined) return leaf;
  if (typeof first === 'number') {
    const list = Array.isArray(value) ? [...value] : [];
    list[first] = setAt(list[first], rest, leaf);
    return list;
  }
  const members = (value ?? {}) as Arguments;
  return { ...members, [first]: setAt(members[first], rest, leaf) };
}
