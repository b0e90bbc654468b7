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
import { withAuditEntry } from '../../../domain/ground/audit/change.ts';
import { unauditedOperations } from '../../../domain/ground/audit/operation.ts';
import { kindOfId } from '../../../entities/ground/ids.ts';
import { type AuditChange, toAuditValue } from '../../../entities/operations/audit.ts';
import { flatType } from '../../../lib/flat-inputs.ts';
import { hasMembers, membersOf } from '../../../lib/json/json.ts';
import { type GraphContext, withCaller } from './context.ts';

type Resolver = GraphQLFieldResolver<unknown, GraphContext>;
type Arguments = Readonly<Record<string, unknown>>;

/** Scalars whose values contain neither a person's words nor a secret. */
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
/** Operations on conversations, which are private: administrators do not see even the name of a chat. */
const personalOperation = /Chat|Message|Thread|Response|Run|ToolOutput|Conversation|Project/;

const changesMax = 100;

/**
 * Writes a mutation into the audit log, in the transaction of the change itself. Wraps every mutation, also a future one, so that none can forget it.
 * A mutation that fails before it changed anything leaves no entry of a change.
 */
export function audited(field: GraphQLField<unknown, GraphContext>, inner: Resolver): Resolver {
  const { name, args: definitions } = field;
  if (unauditedOperations.has(name)) return inner;
  const showsTexts = !personalOperation.test(name);
  const idsOf = idReader(field);
  return (root, args: Arguments, context, info) => {
    const givenChanges = definitions
      .flatMap(({ name: argument, type }) =>
        argument === 'id' ? [] : collectChanges(argument, type, context.terms?.[argument] ?? args[argument], showsTexts),
      )
      .slice(0, changesMax);
    const call = {
      action: name,
      ids: idsOf(args, context),
      orgId: namedOrganization(args),
      changes: givenChanges.map(({ change }) => change),
      changedId: collectTexts(args.id)[0],
      shownMembers: new Set(givenChanges.flatMap(({ change, isShown }) => (isShown ? [change.member] : []))),
      requestId: context.requestId,
      address: context.address,
      isRest: context.missIsError,
    };
    return withAuditEntry(
      context.deps,
      context.caller,
      call,
      (caller) => inner(root, args, withCaller(context, caller), info) as unknown,
    );
  };
}

/** Arguments whose members name things too. */
const inputs = ['input', 'filter'] as const;

/** Reads the ids of a call of a root field: the argument `id` first, then those that its route names, members of `input` and `filter` last. */
export function idReader({
  args: definitions,
}: GraphQLField<unknown, GraphContext>): (args: Arguments, context: Pick<GraphContext, 'terms'>) => string[] {
  const names = definitions.filter(({ type }) => named(type) === 'ID').map((argument) => argument.name);
  const orderedNames = [...names.filter((name) => name === 'id'), ...names.filter((name) => name !== 'id')];
  const members = inputs.flatMap((argument) => {
    const type = definitions.find(({ name }) => name === argument)?.type;
    const inner = isNonNullType(type) ? type.ofType : type;
    const fields = isInputObjectType(inner) ? Object.values(flatType(inner).getFields()) : [];
    return fields.flatMap((field) => (named(field.type) === 'ID' ? [{ argument, name: field.name }] : []));
  });
  return (args, { terms = {} }) => [
    ...orderedNames.flatMap((name) => collectTexts(args[name])),
    ...collectTexts(Object.values(terms)).filter((term) => kindOfId(term) !== undefined),
    ...members.flatMap(({ argument, name }) => collectTexts(membersOf(args[argument])[name])),
  ];
}

function namedOrganization(args: Arguments): string | undefined {
  const givenId = [args, ...inputs.map((name) => membersOf(args[name]))]
    .map(({ orgId }) => orgId)
    .find((id) => (id ?? null) !== null);
  return typeof givenId === 'string' && kindOfId(givenId) === 'organization' ? givenId : undefined;
}

interface GivenChange {
  readonly change: AuditChange;
  /** Whether the values of the member are recorded. */
  readonly isShown: boolean;
}

/** Members of `input` appear by their name; members of nested objects by their path. */
function collectChanges(member: string, type: GraphQLInputType, value: unknown, showsTexts: boolean): GivenChange[] {
  if (value === undefined) return [];
  const inner = isNonNullType(type) ? type.ofType : type;
  if (value !== null && isInputObjectType(inner) && hasMembers(value)) {
    const prefix = member === 'input' ? '' : `${member}.`;
    return Object.values(flatType(inner).getFields()).flatMap((field) =>
      collectChanges(`${prefix}${field.name}`, field.type, value[field.name], showsTexts),
    );
  }
  const isShown = isPlain(inner) || (showsTexts && shownTexts.has(member) && named(inner) === 'String');
  const shownValue = isShown || value === null ? toAuditValue(value) : undefined;
  return [{ change: shownValue === undefined ? { member } : { member, value: shownValue }, isShown }];
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

function collectTexts(value: unknown): string[] {
  if (Array.isArray(value)) return value.filter((item) => typeof item === 'string');
  return typeof value === 'string' ? [value] : [];
}
