import {
  type DocumentNode,
  defaultFieldResolver,
  type FieldNode,
  type GraphQLFieldConfig,
  GraphQLInterfaceType,
  GraphQLList,
  type GraphQLNamedType,
  GraphQLNonNull,
  type GraphQLNullableType,
  GraphQLObjectType,
  type GraphQLOutputType,
  GraphQLScalarType,
  GraphQLSchema,
  GraphQLUnionType,
  isInterfaceType,
  isIntrospectionType,
  isListType,
  isNonNullType,
  isObjectType,
  isUnionType,
  Kind,
  parse,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import type { SourceContext } from '../../http/context.ts';
import type { ReplyBudget } from '../../http/reply/budget.ts';
import type { DeclaredRoute } from '../route.ts';
import { memberName } from './checks.ts';

type Shaped = Pick<DeclaredRoute, 'document' | 'shapes'>;

/**
 * The schema that documents of routes are executed by: a field that a route shows by a `resolvedShape` has a twin with the same resolver, whose value
 * is what that returned. The rules of access are in the resolver, so they hold for the twin.
 */
export function withResolvedMembers(schema: GraphQLSchema, rows: readonly Shaped[]): GraphQLSchema {
  const fieldsByType = new Map<string, Set<string>>();
  for (const row of rows) {
    const isResolved = resolvedMembers(row);
    if (isResolved === undefined) continue;
    const info = new TypeInfo(schema);
    const Field = (node: FieldNode) => {
      const type = info.getParentType()?.name;
      if (type !== undefined && isResolved(node))
        fieldsByType.set(type, (fieldsByType.get(type) ?? new Set()).add(node.name.value));
    };
    visit(parse(row.document), visitWithTypeInfo(info, { Field }));
  }
  return fieldsByType.size === 0 ? schema : withTwins(schema, fieldsByType);
}

/** `mapSchema` of graphql-tools does the same with six times the work. Inputs, enums and scalars are those of the schema itself. */
function withTwins(schema: GraphQLSchema, fieldsByType: ReadonlyMap<string, ReadonlySet<string>>): GraphQLSchema {
  const copies = new Map<string, GraphQLNamedType>();
  const copyOf = <Type extends GraphQLNamedType>(type: Type): Type => {
    const known = copies.get(type.name);
    if (known !== undefined) return known as Type;
    const copy = copied(type);
    copies.set(type.name, copy);
    return copy as Type;
  };
  const typeOf = (type: GraphQLOutputType): GraphQLOutputType => {
    if (isNonNullType(type)) return new GraphQLNonNull(typeOf(type.ofType) as GraphQLNullableType & GraphQLOutputType);
    return isListType(type) ? new GraphQLList(typeOf(type.ofType)) : copyOf(type);
  };
  const fieldsOf = (fields: Fields, resolvedNames?: ReadonlySet<string>): Fields =>
    Object.fromEntries(
      Object.entries(fields).flatMap(([name, field]) => {
        const own = [name, { ...field, type: typeOf(field.type) }] as const;
        return resolvedNames?.has(name) === true ? [own, [twinName(name), toTwin(field)] as const] : [own];
      }),
    );
  const copied = (type: GraphQLNamedType): GraphQLNamedType => {
    if (isObjectType(type)) {
      const { fields, interfaces, ...config } = type.toConfig();
      const ownFields = () => fieldsOf(fields, fieldsByType.get(type.name));
      return new GraphQLObjectType({ ...config, fields: ownFields, interfaces: () => interfaces.map(copyOf) });
    }
    if (isInterfaceType(type)) {
      const { fields, interfaces, ...config } = type.toConfig();
      return new GraphQLInterfaceType({ ...config, fields: () => fieldsOf(fields), interfaces: () => interfaces.map(copyOf) });
    }
    if (!isUnionType(type)) return type;
    const { types, ...config } = type.toConfig();
    return new GraphQLUnionType({ ...config, types: () => types.map(copyOf) });
  };
  const { query, mutation, subscription, types, ...config } = schema.toConfig();
  const roots = { query, mutation, subscription };
  const rootCopies = Object.entries(roots).map(([name, type]) => [
    name,
    type === null || type === undefined ? type : copyOf(type),
  ]);
  const own = types.filter((type) => !isIntrospectionType(type)).map(copyOf);
  return new GraphQLSchema({ ...config, ...Object.fromEntries(rootCopies), types: own });
}

type Fields = Readonly<Record<string, Config>>;

/** The document with these members as the twins of their fields. */
export function selectResolvedMembers(row: Shaped, document: DocumentNode): DocumentNode {
  const isResolved = resolvedMembers(row);
  if (isResolved === undefined) return document;
  return visit(document, {
    Field: ({ selectionSet, ...node }) => {
      const { name, alias = name } = node;
      if (selectionSet === undefined || !isResolved(node)) return undefined;
      return { ...node, alias, name: { kind: Kind.NAME, value: twinName(name.value) } };
    },
  });
}

function resolvedMembers({ shapes = {} }: Shaped): ((node: FieldNode) => boolean) | undefined {
  const names = new Set(
    Object.entries(shapes).flatMap(([place, shape]) =>
      shape !== 'unshown' && shape.isOfResolver === true ? [memberName(place)] : [],
    ),
  );
  return names.size === 0 ? undefined : ({ alias, name }) => names.has((alias ?? name).value);
}

function twinName(name: string): string {
  return `resolved_${name}`;
}

const resolvedType = new GraphQLScalarType({ name: 'ResolvedMember', description: 'What a resolver returned.' });

type Config = GraphQLFieldConfig<unknown, SourceContext & { readonly replyBudget?: ReplyBudget }>;

function toTwin({ args, resolve = defaultFieldResolver, extensions }: Config): Config {
  return {
    type: resolvedType,
    ...(args === undefined ? {} : { args }),
    ...(extensions === undefined ? {} : { extensions }),
    resolve: (source, given, context, info) => {
      const { replyBudget } = context;
      const value: unknown = resolve(source, given, context, info);
      return value instanceof Promise ? value.then((one: unknown) => within(replyBudget, one)) : within(replyBudget, value);
    },
  };
}

/** Nothing, where it does not fit: the reply is then refused as a whole. */
function within(budget: ReplyBudget | undefined, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || budget === undefined) return value;
  return budget.spendOn(value) ? value : undefined;
}
