import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  isInterfaceType,
  isObjectType,
  Kind,
  SchemaMetaFieldDef,
  type SelectionSetNode,
  TypeMetaFieldDef,
  TypeNameMetaFieldDef,
} from 'graphql';

/** A selection set and the type that it applies to. */
export interface Place {
  readonly selectionSet: SelectionSetNode;
  readonly type: GraphQLNamedType;
}

/** A field as the document writes it, and the type of its selection set. */
export interface SelectedField {
  readonly node: FieldNode;
  readonly parentType: GraphQLNamedType;
}

export type Fragments = Readonly<Record<string, FragmentDefinitionNode>>;

/**
 * The fields of one place of the reply: all selection sets there together, with inline fragments and fragment spreads unfolded.
 * Each fragment is unfolded once, so the work grows with the written fields, not with the number of spreads. The caller handles
 * fields below a field and must remember known selection sets: the same one may appear under many fields.
 *
 * The only code that unfolds fragments of a caller's document (`test/unit/graphql/document-walks.test.ts`).
 */
export function collectFields(schema: GraphQLSchema, fragments: Fragments, places: readonly Place[]): readonly SelectedField[] {
  const fields: SelectedField[] = [];
  const unfoldedNames = new Set<string>();
  const walk = ({ selections }: SelectionSetNode, type: GraphQLNamedType): void => {
    for (const node of selections) {
      if (node.kind === Kind.FIELD) fields.push({ node, parentType: type });
      else if (node.kind === Kind.INLINE_FRAGMENT) walk(node.selectionSet, typeNamed(node.typeCondition?.name.value) ?? type);
      else if (!unfoldedNames.has(node.name.value)) {
        unfoldedNames.add(node.name.value);
        const fragment = fragments[node.name.value];
        if (fragment !== undefined) walk(fragment.selectionSet, typeNamed(fragment.typeCondition.name.value) ?? type);
      }
    }
  };
  const typeNamed = (name: string | undefined) => (name === undefined ? undefined : schema.getType(name));
  for (const { selectionSet, type } of places) walk(selectionSet, type);
  return fields;
}

/** The fragments of a document by name. */
export function collectFragments(document: DocumentNode): Fragments {
  const fragments: Record<string, FragmentDefinitionNode> = Object.create(null);
  for (const node of document.definitions) if (node.kind === Kind.FRAGMENT_DEFINITION) fragments[node.name.value] = node;
  return fragments;
}

/** The definition of a field, including `__typename`, `__schema` and `__type`; undefined when the type has no such field. */
export function fieldNamed(
  schema: GraphQLSchema,
  type: GraphQLNamedType,
  name: string,
): GraphQLField<unknown, unknown> | undefined {
  if (name === TypeNameMetaFieldDef.name) return TypeNameMetaFieldDef;
  if (type === schema.getQueryType()) {
    if (name === SchemaMetaFieldDef.name) return SchemaMetaFieldDef;
    if (name === TypeMetaFieldDef.name) return TypeMetaFieldDef;
  }
  return isObjectType(type) || isInterfaceType(type) ? type.getFields()[name] : undefined;
}
