import { type DocumentNode, type FragmentDefinitionNode, Kind, type SelectionSetNode } from 'graphql';
import { fragmentsOf } from '../../lib/selections.ts';
import type { DocumentErrorCode } from '../errors.ts';

type Fault = readonly [DocumentErrorCode, string];

/** Of one document. */
const fragmentsMax = 100;
const operationsMax = 50;
/** Pairs of fields with one name in one place of the reply: graphql-js compares each pair, a hundred thousand in 50 ms. */
const pairsMax = 100_000;
/** Lists of introspection in one document; tools ask for nine of them. */
const introspectionListsMax = 15;
const introspectionLists: ReadonlySet<string> = new Set([
  ...['types', 'directives', 'fields', 'args', 'inputFields', 'interfaces', 'enumValues', 'possibleTypes'],
]);

/**
 * Tells what a document unfolds to too much of. It runs before validation: a document of a kilobyte may unfold to millions of fields,
 * and the rule "Field Selection Merging" of graphql-js works the square of the fields that stand in one place. Fragments are unfolded
 * where they are spread, at most `fieldsMax` selections of a document.
 */
export function unfoldingFault(document: DocumentNode, fieldsMax: number): Fault | undefined {
  const operations = document.definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION).length;
  if (operations > operationsMax) return tooMany('OPERATIONS', operations, operationsMax);
  const fragments = document.definitions.length - operations;
  if (fragments > fragmentsMax) return tooMany('FRAGMENTS', fragments, fragmentsMax);
  return new Unfolding(document, fieldsMax).fault();
}

/** A place of the reply: how many fields of the document make it, and what is below. */
interface Place {
  count: number;
  readonly below: Map<string, Place>;
}

class Unfolding {
  readonly #document: DocumentNode;
  readonly #fragments: Readonly<Record<string, FragmentDefinitionNode>>;
  readonly #fieldsMax: number;
  readonly #reached = new Set<string>();
  /** Fragments around the place that is walked: a circle among them is refused by validation. */
  readonly #around = new Set<string>();
  #selections = 0;
  #pairs = 0;
  #lists = 0;

  constructor(document: DocumentNode, fieldsMax: number) {
    this.#document = document;
    this.#fragments = fragmentsOf(document);
    this.#fieldsMax = fieldsMax;
  }

  fault(): Fault | undefined {
    for (const node of this.#document.definitions) {
      if (node.kind === Kind.OPERATION_DEFINITION) this.#walk(node.selectionSet, new Map(), false);
    }
    for (const [name, { selectionSet }] of Object.entries(this.#fragments)) {
      if (!this.#reached.has(name)) this.#walk(selectionSet, new Map(), false);
    }
    if (this.#selections > this.#fieldsMax) {
      const message = `The document unfolds to more than ${this.#fieldsMax} fields; at most ${this.#fieldsMax} are allowed. Spread fewer fragments`;
      return ['GRAPHQL_TOO_MANY_FIELDS', message];
    }
    if (this.#pairs > pairsMax) {
      return ['GRAPHQL_TOO_MANY_FIELDS', 'The document selects the same field in the same place too many times'];
    }
    if (this.#lists <= introspectionListsMax) return undefined;
    return [
      'GRAPHQL_TOO_COSTLY',
      `The document reads ${this.#lists} lists of the schema; at most ${introspectionListsMax} are allowed`,
    ];
  }

  #walk({ selections }: SelectionSetNode, places: Map<string, Place>, isSchema: boolean): void {
    for (const node of selections) {
      this.#selections += 1;
      if (this.#selections > this.#fieldsMax) return;
      if (node.kind === Kind.INLINE_FRAGMENT) this.#walk(node.selectionSet, places, isSchema);
      else if (node.kind === Kind.FRAGMENT_SPREAD) this.#spread(node.name.value, places, isSchema);
      else {
        const name = node.name.value;
        const key = node.alias?.value ?? name;
        const place = places.get(key) ?? { count: 0, below: new Map() };
        places.set(key, place);
        this.#pairs += place.count;
        place.count += 1;
        if (isSchema && introspectionLists.has(name)) this.#lists += 1;
        if (node.selectionSet === undefined) continue;
        this.#walk(node.selectionSet, place.below, isSchema || name === '__schema' || name === '__type');
      }
    }
  }

  #spread(name: string, places: Map<string, Place>, isSchema: boolean): void {
    const fragment = this.#fragments[name];
    if (fragment === undefined || this.#around.has(name)) return;
    this.#reached.add(name);
    this.#around.add(name);
    this.#walk(fragment.selectionSet, places, isSchema);
    this.#around.delete(name);
  }
}

function tooMany(things: 'OPERATIONS' | 'FRAGMENTS', count: number, max: number): Fault {
  return [`GRAPHQL_TOO_MANY_${things}`, `The document has ${count} ${things.toLowerCase()}; at most ${max} are allowed`];
}
