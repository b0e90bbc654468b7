import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  type OperationTypeNode,
} from 'graphql';
import { runOperations } from '../../../domain/access/policy.ts';
import type { Settings } from '../../../settings.ts';
import type { Params } from '../params.ts';
import { type DocumentLimits, documentError, documentLimits } from './limits.ts';
import type { MergedDocument } from './merged-fields.ts';
import { parseDocument } from './parse.ts';
import { validateDocument } from './validate.ts';
import { type Weight, weigh, weightless } from './weight.ts';

const cachedDocumentsMax = 500;
/** Longer documents are made by machines with values inside, and do not come twice. */
const cachedSourceMaxChars = 8_192;
/** Of all cached documents together. */
const cachedFieldsMax = 100_000;

/** One operation of a valid document, ready to run. */
export interface Operation {
  readonly document: DocumentNode;
  readonly node: OperationDefinitionNode;
  /** Whether one of its root fields holds a model run (domain/access/policy.ts). */
  readonly holdsRun: boolean;
  /** As graphql-js wants it: undefined when the document has one operation. */
  readonly name: string | undefined;
}

/** Documents parsed, validated and weighed once, whatever transport they come by. */
export class Documents {
  readonly #schema: GraphQLSchema;
  readonly #limits: DocumentLimits;
  readonly #known = new Map<string, KnownDocument>();
  #cachedFields = 0;

  constructor(schema: GraphQLSchema, settings: Settings) {
    this.#schema = schema;
    this.#limits = documentLimits(settings);
  }

  /** Finds the document of a request. Does not throw: the result says what is wrong with the document. */
  request(params: Params): DocumentRequest {
    return new DocumentRequest(this.#find(params.query), params);
  }

  #find(source: string): KnownDocument {
    const known = this.#known.get(source);
    if (known !== undefined) {
      // The map keeps the order of insertion: what is used moves to the end, what is dropped stands at the front.
      if (this.#known.size === cachedDocumentsMax || this.#cachedFields > cachedFieldsMax / 2) {
        this.#known.delete(source);
        this.#known.set(source, known);
      }
      return known;
    }
    const made = this.#make(source);
    if (source.length <= cachedSourceMaxChars && made.faults.length === 0) this.#keep(source, made);
    return made;
  }

  #make(source: string): KnownDocument {
    try {
      const parsed = parseDocument(source, this.#limits);
      const { faults, merged } = validateDocument(this.#schema, parsed, this.#limits);
      return new KnownDocument(parsed.document, faults, merged, this.#limits);
    } catch (error) {
      if (error instanceof GraphQLError) return new KnownDocument(undefined, [error], undefined, this.#limits);
      throw error;
    }
  }

  #keep(source: string, made: KnownDocument): void {
    this.#known.set(source, made);
    this.#cachedFields += made.fieldCount;
    for (const [oldest, { fieldCount }] of this.#known) {
      if (this.#known.size <= cachedDocumentsMax && this.#cachedFields <= cachedFieldsMax) break;
      this.#known.delete(oldest);
      this.#cachedFields -= fieldCount;
    }
  }
}

/** What one request asks for. */
export class DocumentRequest {
  readonly params: Params;
  readonly #known: KnownDocument;
  readonly #node: OperationDefinitionNode | GraphQLError;
  #operation: Operation | readonly GraphQLError[] | undefined;

  constructor(known: KnownDocument, params: Params) {
    this.#known = known;
    this.params = params;
    this.#node = known.document === undefined ? noOperation() : operationNamed(known.operations, params.operationName);
  }

  /** The parsed document. @throws GraphQLError when it cannot be parsed. */
  get document(): DocumentNode {
    const { document, faults } = this.#known;
    if (document === undefined) throw faults[0] ?? noOperation();
    return document;
  }

  /** Everything wrong with the document, or nothing. */
  get faults(): readonly GraphQLError[] {
    return this.#known.faults;
  }

  /** Query, mutation or subscription; undefined when the document does not tell. */
  get kind(): OperationTypeNode | undefined {
    return this.#node instanceof GraphQLError ? undefined : this.#node.operation;
  }

  /** The names of the schema's fields at the root of the operation; none for a document that is refused. */
  get rootFields(): readonly string[] {
    return this.#node instanceof GraphQLError ? [] : this.#known.rootFields(this.#node);
  }

  /** Whether the operation holds a model run; false where the document does not tell, or is refused anyway. */
  get holdsRun(): boolean {
    return !(this.#node instanceof GraphQLError) && this.#known.holdsRun(this.#node);
  }

  /** The operation to run, or what is wrong with the document, its name or its weight. */
  operation(): Operation | readonly GraphQLError[] {
    this.#operation ??= this.#find();
    return this.#operation;
  }

  #find(): Operation | readonly GraphQLError[] {
    const { faults, document } = this.#known;
    if (faults.length > 0 || document === undefined) return faults;
    if (this.#node instanceof GraphQLError) return [this.#node];
    const fault = this.#known.weightFault(this.#node, this.params.variables);
    if (fault !== undefined) return [fault];
    return {
      document,
      node: this.#node,
      holdsRun: this.holdsRun,
      name: this.params.operationName,
    };
  }
}

/** Tells what `operation` returned. */
export function isFaults(found: Operation | readonly GraphQLError[]): found is readonly GraphQLError[] {
  return Array.isArray(found);
}

type Variables = Params['variables'];

/** A document with all that was found out of it. */
class KnownDocument {
  readonly document: DocumentNode | undefined;
  readonly faults: readonly GraphQLError[];
  readonly operations: readonly OperationDefinitionNode[];
  /** Fields of all operations. */
  readonly fieldCount: number;
  readonly #runNodes: ReadonlySet<OperationDefinitionNode>;
  readonly #merged: MergedDocument | undefined;
  readonly #limits: DocumentLimits;
  readonly #weights = new Map<OperationDefinitionNode, Weight>();

  constructor(
    document: DocumentNode | undefined,
    faults: readonly GraphQLError[],
    merged: MergedDocument | undefined,
    limits: DocumentLimits,
  ) {
    this.document = document;
    this.faults = faults;
    this.operations = (document?.definitions ?? []).filter((node) => node.kind === Kind.OPERATION_DEFINITION);
    this.#merged = faults.length > 0 ? undefined : merged;
    this.#limits = limits;
    this.#runNodes = new Set(this.operations.filter((node) => this.#asksForRun(node)));
    this.fieldCount = this.operations.reduce((sum, node) => sum + Math.min(this.#weight(node, {}).fields, limits.fieldsMax), 0);
  }

  holdsRun(node: OperationDefinitionNode): boolean {
    return this.#runNodes.has(node);
  }

  rootFields(node: OperationDefinitionNode): readonly string[] {
    const merged = this.#merged?.root(node).values() ?? [];
    return [...new Set(Array.from(merged).flatMap(({ fields }) => fields.map((field) => field.node.name.value)))];
  }

  weightFault(node: OperationDefinitionNode, variables: Variables): GraphQLError | undefined {
    const weight = this.#weight(node, variables);
    const { depthMax, fieldsMax, costMax } = this.#limits;
    if (weight.depth > depthMax) {
      return documentError('GRAPHQL_TOO_DEEP', `The operation is ${weight.depth} levels deep; at most ${depthMax} are allowed`);
    }
    if (weight.fields > fieldsMax) {
      const message = `The operation unfolds to ${weight.fields} fields; at most ${fieldsMax} are allowed. Spread fewer fragments`;
      return documentError('GRAPHQL_TOO_MANY_FIELDS', message);
    }
    if (weight.cost > costMax) {
      const message = `The operation may make a reply of cost ${weight.cost}; at most ${costMax} is allowed. Ask for shorter lists, or for fewer fields`;
      return documentError('GRAPHQL_TOO_COSTLY', message);
    }
    return undefined;
  }

  #asksForRun(node: OperationDefinitionNode): boolean {
    const root = `${node.operation[0]?.toUpperCase()}${node.operation.slice(1)}`;
    return this.rootFields(node).some((name) => runOperations.has(`${root}.${name}`));
  }

  #weight(node: OperationDefinitionNode, variables: Variables): Weight {
    if (this.#merged === undefined) return weightless;
    const weight = this.#weights.get(node) ?? weigh(this.#merged, node, variables, this.#limits.listMax);
    if (!weight.isVariable) this.#weights.set(node, weight);
    return weight;
  }
}

function noOperation(): GraphQLError {
  return documentError('OPERATION_RESOLUTION_FAILURE', 'The document has no operation');
}

function operationNamed(
  operations: readonly OperationDefinitionNode[],
  name: string | undefined,
): OperationDefinitionNode | GraphQLError {
  const [first, second] = operations;
  if (name === undefined) {
    if (first === undefined) return noOperation();
    if (second === undefined) return first;
    return documentError('OPERATION_RESOLUTION_FAILURE', 'operationName must name one of the operations');
  }
  const found = operations.find((operation) => operation.name?.value === name);
  if (found !== undefined) return found;
  const message = `The document has no operation named ${JSON.stringify(name.slice(0, 100))}`;
  return documentError('OPERATION_RESOLUTION_FAILURE', message);
}
