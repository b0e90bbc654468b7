import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  Lexer,
  NoFragmentCyclesRule,
  type OperationDefinitionNode,
  type OperationTypeNode,
  parse,
  type SelectionSetNode,
  Source,
  specifiedRules,
  TokenKind,
  validate,
} from 'graphql';
import { runOperations } from '../../domain/policy.ts';
import { CompiledOperation } from '../../lib/compiled-operation.ts';
import type { Settings } from '../../settings.ts';
import { countFaults, type DocumentLimits, documentError, type Weight, weigh } from './limits.ts';

const cachedDocumentsMax = 500;
/** Longer documents are made by machines with values inside, and do not come twice. */
const cachedSourceMaxChars = 8_192;

const faultsMax = 20;

/** One operation of a valid document, ready to run. */
export interface Operation {
  readonly document: DocumentNode;
  readonly node: OperationDefinitionNode;
  /** Whether one of its root fields holds a model run (domain/policy.ts). */
  readonly holdsRun: boolean;
  /** As graphql-js wants it: undefined when the document has one operation. */
  readonly name: string | undefined;
  readonly compiled: CompiledOperation;
}

/** Documents parsed, validated, weighed and compiled once, whatever transport they come by. */
export class Documents {
  readonly #schema: GraphQLSchema;
  readonly #limits: DocumentLimits;
  readonly #known = new Map<string, KnownDocument>();

  constructor(schema: GraphQLSchema, settings: Settings) {
    this.#schema = schema;
    this.#limits = {
      depthMax: settings.GRAPHQL_DEPTH_MAX,
      tokensMax: settings.GRAPHQL_TOKENS_MAX,
      aliasesMax: settings.GRAPHQL_ALIASES_MAX,
      directivesMax: settings.GRAPHQL_DIRECTIVES_MAX,
      costMax: settings.GRAPHQL_COST_MAX,
      listMax: settings.LIST_MAX,
    };
  }

  /** The parsed document. @throws GraphQLError when it cannot be parsed. */
  parse(source: string): DocumentNode {
    return this.#find(source).document;
  }

  /** Everything wrong with the document, or nothing. @throws GraphQLError when it cannot be parsed. */
  faults(source: string): readonly GraphQLError[] {
    return this.#find(source).faults;
  }

  /** Query, mutation or subscription; undefined when the document does not tell. */
  kindOf(source: string, name: string | undefined): OperationTypeNode | undefined {
    try {
      return operationNamed(this.#find(source).operations, name).operation;
    } catch {
      return undefined;
    }
  }

  /** Whether the operation holds a model run; false where the document does not tell, or is refused anyway. */
  holdsRun(source: string, name: string | undefined): boolean {
    try {
      const { runNodes, operations } = this.#find(source);
      return runNodes.size > 0 && runNodes.has(operationNamed(operations, name));
    } catch {
      return false;
    }
  }

  /**
   * Finds the operation to run.
   *
   * @returns the operation, or what is wrong with the document, its name or its weight.
   */
  operation(source: string, name: string | null | undefined, variables: Variables): Operation | readonly GraphQLError[] {
    try {
      const known = this.#find(source);
      if (known.faults.length > 0) return known.faults;
      const node = operationNamed(known.operations, name);
      const fault = this.#weightFault(known, node, variables);
      return fault === undefined
        ? {
            document: known.document,
            node,
            holdsRun: known.runNodes.has(node),
            name: name ?? undefined,
            compiled: this.#compiled(known, node),
          }
        : [fault];
    } catch (error) {
      if (error instanceof GraphQLError) return [error];
      throw error;
    }
  }

  #compiled({ document, compiled }: KnownDocument, node: OperationDefinitionNode): CompiledOperation {
    let found = compiled.get(node);
    if (found === undefined) {
      found = new CompiledOperation(this.#schema, document, node);
      compiled.set(node, found);
    }
    return found;
  }

  #find(source: string): KnownDocument {
    const known = this.#known.get(source);
    if (known !== undefined) {
      // The map keeps the order of insertion: what is used moves to the end, what is dropped stands at the front.
      if (this.#known.size === cachedDocumentsMax) {
        this.#known.delete(source);
        this.#known.set(source, known);
      }
      return known;
    }
    const document = this.#parse(source);
    const operations = document.definitions.filter((node) => node.kind === Kind.OPERATION_DEFINITION);
    const faults = this.#check(document);
    // A refused document may be of any form, circles among its fragments included.
    const runNodes = new Set(faults.length > 0 ? [] : operations.filter((node) => holdsRun(document, node)));
    const made: KnownDocument = { document, operations, runNodes, faults, weights: new Map(), compiled: new Map() };
    if (source.length <= cachedSourceMaxChars && made.faults.length === 0) this.#keep(source, made);
    return made;
  }

  #keep(source: string, made: KnownDocument): void {
    if (this.#known.size >= cachedDocumentsMax) {
      for (const oldest of this.#known.keys()) {
        this.#known.delete(oldest);
        break;
      }
    }
    this.#known.set(source, made);
  }

  #parse(source: string): DocumentNode {
    try {
      requireFlat(source, this.#limits.tokensMax);
      return parse(source, { maxTokens: this.#limits.tokensMax });
    } catch (error) {
      if (!(error instanceof GraphQLError) || error.extensions.code !== undefined) throw error;
      const isTooLong = error.message.includes('tokens. Parsing aborted');
      error.extensions.code = isTooLong ? 'GRAPHQL_TOO_MANY_TOKENS' : 'GRAPHQL_PARSE_FAILED';
      throw error;
    }
  }

  #check(document: DocumentNode): readonly GraphQLError[] {
    const surplus = countFaults(document, this.#limits);
    if (surplus.length > 0) return surplus;
    try {
      // Alone and first: other rules walk in circles until the stack is full.
      const circles = validate(this.#schema, document, [NoFragmentCyclesRule]);
      const faults = circles.length > 0 ? circles : validate(this.#schema, document, specifiedRules, { maxErrors: faultsMax });
      for (const fault of faults) fault.extensions.code ??= 'GRAPHQL_VALIDATION_FAILED';
      return faults;
    } catch (error) {
      if (error instanceof RangeError) return [tooNested()];
      throw error;
    }
  }

  #weightFault(known: KnownDocument, node: OperationDefinitionNode, variables: Variables): GraphQLError | undefined {
    const weight = known.weights.get(node) ?? weigh(this.#schema, known.document, node, variables, this.#limits);
    if (!weight.isVariable) known.weights.set(node, weight);
    const { depthMax, costMax } = this.#limits;
    if (weight.depth > depthMax) {
      return documentError('GRAPHQL_TOO_DEEP', `The operation is ${weight.depth} levels deep; at most ${depthMax} are allowed`);
    }
    if (weight.cost > costMax) {
      const message = `The operation may make ${weight.cost} objects; at most ${costMax} are allowed. Ask for shorter lists`;
      return documentError('GRAPHQL_TOO_COSTLY', message);
    }
    return undefined;
  }
}

/** Tells what `operation` returned. */
export function isFaults(found: Operation | readonly GraphQLError[]): found is readonly GraphQLError[] {
  return Array.isArray(found);
}

type Variables = Readonly<Record<string, unknown>>;

interface KnownDocument {
  readonly document: DocumentNode;
  readonly operations: readonly OperationDefinitionNode[];
  readonly runNodes: ReadonlySet<OperationDefinitionNode>;
  readonly faults: readonly GraphQLError[];
  readonly weights: Map<OperationDefinitionNode, Weight>;
  readonly compiled: Map<OperationDefinitionNode, CompiledOperation>;
}

/** Each fragment is looked into once, however often it is spread: documents that double themselves cost nothing. */
function holdsRun(document: DocumentNode, operation: OperationDefinitionNode): boolean {
  const root = `${operation.operation[0]?.toUpperCase()}${operation.operation.slice(1)}`;
  const unseen = new Map(
    document.definitions.flatMap((node) => (node.kind === Kind.FRAGMENT_DEFINITION ? [[node.name.value, node] as const] : [])),
  );
  const inSelection = ({ selections }: SelectionSetNode): boolean =>
    selections.some((node) => {
      if (node.kind === Kind.FIELD) return runOperations.has(`${root}.${node.name.value}`);
      if (node.kind === Kind.INLINE_FRAGMENT) return inSelection(node.selectionSet);
      const fragment = unseen.get(node.name.value);
      unseen.delete(node.name.value);
      return fragment !== undefined && inSelection(fragment.selectionSet);
    });
  return inSelection(operation.selectionSet);
}

/**
 * The parser goes one call deeper with each bracket, and where the stack ends hangs on how warm it is: the limit is ours instead.
 *
 * @throws GraphQLError, also where the source cannot be cut into tokens.
 */
function requireFlat(source: string, tokensMax: number): void {
  const lexer = new Lexer(new Source(source));
  let depth = 0;
  for (let tokens = 0; tokens <= tokensMax; tokens += 1) {
    const { kind } = lexer.advance();
    if (kind === TokenKind.EOF) return;
    if (openings.has(kind)) depth += 1;
    else if (closings.has(kind)) depth -= 1;
    if (depth > nestingMax) throw tooNested();
  }
}

const nestingMax = 200;
const openings: ReadonlySet<string> = new Set([TokenKind.BRACE_L, TokenKind.BRACKET_L, TokenKind.PAREN_L]);
const closings: ReadonlySet<string> = new Set([TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R]);

/** Nothing that a person writes. */
function tooNested(): GraphQLError {
  return documentError('GRAPHQL_TOO_DEEP', 'The document is nested too deeply');
}

function operationNamed(
  operations: readonly OperationDefinitionNode[],
  name: string | null | undefined,
): OperationDefinitionNode {
  const [first, second] = operations;
  if (name === undefined || name === null) {
    if (first !== undefined && second === undefined) return first;
    const message = first === undefined ? 'The document has no operation' : 'operationName must name one of the operations';
    throw documentError('OPERATION_RESOLUTION_FAILURE', message);
  }
  const found = operations.find((operation) => operation.name?.value === name);
  if (found === undefined)
    throw documentError(
      'OPERATION_RESOLUTION_FAILURE',
      `The document has no operation named ${JSON.stringify(name.slice(0, 100))}`,
    );
  return found;
}
