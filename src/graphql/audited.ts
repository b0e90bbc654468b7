import {
  type GraphQLField,
  type GraphQLFieldResolver,
  type GraphQLInputType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isScalarType,
} from 'graphql';
import { recordChange, unauditedOperations } from '../domain/audit.ts';
import type { AuditChange, AuditValue } from '../entities/audit.ts';
import type { GraphContext } from './builder.ts';

type Resolver = GraphQLFieldResolver<unknown, GraphContext>;

/** Scalars whose values say nothing that a person wrote, nor a secret. */
const plainScalars: ReadonlySet<string> = new Set(['ID', 'Boolean', 'Int', 'Float', 'Count', 'DateTime']);
/** Texts that an administrator must see to understand a change. Any other text is recorded as changed, without its value. */
const shownTexts: ReadonlySet<string> = new Set([
  'name',
  'email',
  'modelId',
  'scopes',
  'memberEmails',
  'memberEmailsToAdd',
  'memberEmailsToRemove',
  'editors',
]);
/** What people talk about is theirs: not even its name is shown to administrators. */
const personalOperation = /Chat|Message|Thread|Response|Run|ToolOutput|Conversation/;

const valueCharsMax = 200;
const valuesMax = 50;
const changesMax = 100;

/**
 * Writes a mutation into the audit log when it has succeeded: stands around every mutation, also those not written yet, so none can forget
 * it. What was refused or failed changed nothing and leaves no entry.
 */
export function audited(field: GraphQLField<unknown, GraphContext>, inner: Resolver): Resolver {
  const { name, args: definitions } = field;
  if (unauditedOperations.has(name)) return inner;
  const showsTexts = !personalOperation.test(name);
  const idArgs = definitions.filter(({ type }) => named(type) === 'ID').map((argument) => argument.name);
  const ordered = [...idArgs.filter((argument) => argument === 'id'), ...idArgs.filter((argument) => argument !== 'id')];
  return async (root, args: Readonly<Record<string, unknown>>, context, info) => {
    const result: unknown = await inner(root, args, context, info);
    const changes = definitions.flatMap((argument) =>
      argument.name === 'id' ? [] : changesOf(argument.name, argument.type, args[argument.name], showsTexts),
    );
    await recordChange(context.deps, context.caller, {
      action: name,
      result,
      ids: ordered.flatMap((argument) => textsOf(args[argument])),
      changes: changes.slice(0, changesMax),
      requestId: context.requestId,
    });
    return result;
  };
}

/** Members of `input` stand for themselves; those of objects within it under their path. */
function changesOf(member: string, type: GraphQLInputType, value: unknown, showsTexts: boolean): AuditChange[] {
  if (value === undefined) return [];
  const inner = isNonNullType(type) ? type.ofType : type;
  if (value !== null && isInputObjectType(inner) && isRecord(value)) {
    const prefix = member === 'input' ? '' : `${member}.`;
    return Object.values(inner.getFields()).flatMap((field) =>
      changesOf(`${prefix}${field.name}`, field.type, value[field.name], showsTexts),
    );
  }
  const isShown = isPlain(inner) || (showsTexts && shownTexts.has(member) && named(inner) === 'String');
  const shown = isShown || value === null ? shownValue(value) : undefined;
  return [shown === undefined ? { member } : { member, value: shown }];
}

function isPlain(type: GraphQLInputType): boolean {
  const inner = isNonNullType(type) ? type.ofType : type;
  if (isListType(inner)) return isPlain(inner.ofType);
  return isEnumType(inner) || (isScalarType(inner) && plainScalars.has(inner.name));
}

function named(type: GraphQLInputType): string {
  if (isNonNullType(type) || isListType(type)) return named(type.ofType);
  return type.name;
}

function shownValue(value: unknown): AuditValue | undefined {
  if (Array.isArray(value)) {
    return value.slice(0, valuesMax).flatMap((item) => {
      const shown = shownValue(item);
      return shown === undefined || typeof shown === 'object' ? [] : [shown];
    });
  }
  if (value instanceof Date) return value.toISOString();
  if (typeof value === 'string') return value.slice(0, valueCharsMax).toWellFormed();
  return value === null || typeof value === 'number' || typeof value === 'boolean' ? value : undefined;
}

function textsOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.filter((item) => typeof item === 'string');
  return typeof value === 'string' ? [value] : [];
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object';
}
