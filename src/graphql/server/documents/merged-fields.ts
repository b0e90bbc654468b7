import { type DocumentNode, type GraphQLSchema, getNamedType, type OperationDefinitionNode } from 'graphql';
import { type Fragments, fieldNamed, fieldsOf, fragmentsOf, type Place, type SelectedField } from '../../../lib/selections.ts';

/** The fields of one place of the reply, by their name in the reply. */
export type MergedFields = ReadonlyMap<string, MergedField>;

export interface MergedField {
  /** All fields of the document that make this field of the reply, at least one. */
  readonly fields: readonly SelectedField[];
  /** Undefined for a leaf. */
  readonly below: MergedFields | undefined;
}

/** The document unfolds to more fields than it may. */
export class TooManyFields extends Error {}

/**
 * A document as it is executed: fragments unfolded, fields of the same name merged. Places with the same selection sets are made once and
 * shared, so that a document of a few kilobytes cannot become a tree of millions of fields. The document must have no circles among its
 * fragments.
 */
export class MergedDocument {
  readonly schema: GraphQLSchema;
  readonly #fragments: Fragments;
  readonly #fieldsMax: number;
  readonly #roots = new Map<OperationDefinitionNode, MergedFields>();
  readonly #made = new Map<string, MergedFields>();
  readonly #numbers = new Map<object, number>();
  #fieldCount = 0;

  /** @param fieldsMax  of all places together. */
  constructor(schema: GraphQLSchema, document: DocumentNode, fieldsMax: number) {
    this.schema = schema;
    this.#fragments = fragmentsOf(document);
    this.#fieldsMax = fieldsMax;
  }

  /** Made once: what is asked of it at each request costs nothing. @throws TooManyFields */
  root(node: OperationDefinitionNode): MergedFields {
    const known = this.#roots.get(node);
    if (known !== undefined) return known;
    const type = this.schema.getRootType(node.operation);
    const made = type === undefined || type === null ? new Map() : this.#at([{ selectionSet: node.selectionSet, type }]);
    this.#roots.set(node, made);
    return made;
  }

  /** What stands below fields that make one field of the reply; undefined where they are leaves. @throws TooManyFields */
  below(fields: readonly SelectedField[]): MergedFields | undefined {
    const places: Place[] = [];
    for (const { node, parentType } of fields) {
      const definition = fieldNamed(this.schema, parentType, node.name.value);
      if (node.selectionSet === undefined || definition === undefined) continue;
      places.push({ selectionSet: node.selectionSet, type: getNamedType(definition.type) });
    }
    return places.length === 0 ? undefined : this.#at(places);
  }

  #at(places: readonly Place[]): MergedFields {
    const key = this.#keyOf(places);
    const known = this.#made.get(key);
    if (known !== undefined) return known;
    const groups = new Map<string, SelectedField[]>();
    const found = fieldsOf(this.schema, this.#fragments, places);
    this.#count(found.length);
    for (const field of found) {
      const name = field.node.alias?.value ?? field.node.name.value;
      const group = groups.get(name);
      if (group === undefined) groups.set(name, [field]);
      else group.push(field);
    }
    const merged = new Map<string, MergedField>();
    for (const [name, fields] of groups) merged.set(name, { fields, below: this.below(fields) });
    this.#made.set(key, merged);
    return merged;
  }

  /** A selection set stands on one type wherever it is merged, so the sets alone name the place. */
  #keyOf(places: readonly Place[]): string {
    this.#count(places.length);
    const numbers = new Set<number>();
    for (const { selectionSet } of places) {
      let number = this.#numbers.get(selectionSet);
      if (number === undefined) {
        number = this.#numbers.size;
        this.#numbers.set(selectionSet, number);
      }
      numbers.add(number);
    }
    return [...numbers].sort((one, other) => one - other).join(' ');
  }

  #count(added: number): void {
    this.#fieldCount += added;
    if (this.#fieldCount > this.#fieldsMax) throw new TooManyFields();
  }
}
