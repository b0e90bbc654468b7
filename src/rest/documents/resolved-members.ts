import {
  type DocumentNode,
  defaultFieldResolver,
  type FieldNode,
  type GraphQLField,
  GraphQLNonNull,
  type GraphQLObjectType,
  GraphQLScalarType,
  type GraphQLSchema,
  isNonNullType,
  isObjectType,
  Kind,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import type { SourceContext } from '../../http/context.ts';
import type { ReplyBudget } from '../../http/reply/budget.ts';
import type { DeclaredRoute } from '../route.ts';
import { memberName } from './checks.ts';
import type { RowDocument } from './document.ts';

type Shaped = Pick<DeclaredRoute, 'shapes'>;

/**
 * The document as it is executed for a route: it selects twins of fields, whose value is what the resolver of the field returned. Members that the
 * route shows by a `resolvedShape` are twins. The rules of access are in the resolver, so they hold for the twin.
 *
 * Twins are added to the types of the schema here. No text can name one, and nothing that lists fields shows it: not validation, nor introspection,
 * nor a printed schema. Copies of the types would do the same with fifty milliseconds of each start.
 */
export function selectResolvedMembers(schema: GraphQLSchema, { shapes = {} }: Shaped, document: DocumentNode): DocumentNode {
  const places = Object.entries(shapes).filter(([, shape]) => shape !== 'unshown' && shape.isOfResolver === true);
  const names = new Set(places.map(([place]) => memberName(place)));
  if (names.size === 0) return document;
  const info = new TypeInfo(schema);
  const Field = ({ selectionSet, ...node }: FieldNode) => {
    const type = info.getParentType();
    const field = info.getFieldDef();
    if (selectionSet === undefined || !field || !names.has((node.alias ?? node.name).value)) return undefined;
    if (!isObjectType(type))
      throw new Error(`${node.name.value} is a member of an interface: its resolver cannot be called there`);
    return selectTwin(type, node, toTwin(field));
  };
  return visit(document, visitWithTypeInfo(info, { Field }));
}

/** The same for a route whose reply is made in wire/: the twin is that of the root field. What the document selects there says nothing. */
export function selectRootValue({ document, rootNode, rootField, rootType }: RowDocument): DocumentNode {
  return visit(document, { Field: (node) => (node === rootNode ? selectTwin(rootType, node, toRootTwin(rootField)) : false) });
}

function selectTwin(type: GraphQLObjectType, node: FieldNode, twin: Field): FieldNode {
  const { name, alias = name } = node;
  const value = twinName(name.value);
  const fields = type.getFields();
  if (!(value in fields)) Object.defineProperty(fields, value, { value: twin });
  return { ...node, alias, name: { kind: Kind.NAME, value } };
}

/** With a space, which no name in a text has. */
function twinName(name: string): string {
  return `resolved ${name}`;
}

const resolvedType = new GraphQLScalarType({ name: 'ResolvedMember', description: 'What a resolver returned.' });

type Field = GraphQLField<unknown, SourceContext & { readonly replyBudget?: ReplyBudget }>;

function toRootTwin(field: Field): Field {
  return { ...field, type: isNonNullType(field.type) ? new GraphQLNonNull(resolvedType) : resolvedType };
}

function toTwin(field: Field): Field {
  const { resolve = defaultFieldResolver } = field;
  return {
    ...field,
    type: resolvedType,
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
