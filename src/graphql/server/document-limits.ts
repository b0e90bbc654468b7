import { useEngine } from '@envelop/core';
import { maxAliasesPlugin } from '@escape.tech/graphql-armor-max-aliases';
import { maxDepthPlugin } from '@escape.tech/graphql-armor-max-depth';
import { maxDirectivesPlugin } from '@escape.tech/graphql-armor-max-directives';
import {
  type DocumentNode,
  GraphQLError,
  Kind,
  Lexer,
  type ParseOptions,
  parse,
  type SelectionSetNode,
  Source,
  TokenKind,
  type ValidationRule,
  validate,
} from 'graphql';
import type { Settings } from '../../settings.ts';
import type { DocumentErrorCode } from '../ground/errors/codes.ts';
import type { CallPlugin } from './call.ts';

/** Most directives in a document. */
const directivesMax = 20;
/** Longest document, in UTF-16 code units. Long values belong into variables, which BODY_MAX_BYTES bounds. */
const charsMax = 262_144;
/** Nothing that a person writes. */
const nestingMax = 200;
/** Some rules of validation walk the fragments once for each operation. */
const definitionsMax = { GRAPHQL_TOO_MANY_OPERATIONS: 50, GRAPHQL_TOO_MANY_FRAGMENTS: 100 } as const;
/**
 * Longer documents are parsed without places, and errors in them tell no line: graphql-js finds the line of each node of each error by
 * reading the document from its start.
 */
const locatedMaxChars = 8_192;
const locatedMaxLines = 500;

/**
 * Bounds what a document may ask for, before a resolver runs: armor where it can, graphql-js (the tokens, and the work of its rule for
 * merged fields), and here the rest. The cost of an operation hangs on its variables: `operations.ts`.
 */
export function documentLimits(settings: Settings): readonly CallPlugin[] {
  const within = (n: number, code: DocumentErrorCode) => ({
    ...{ n, flattenFragments: true },
    onReject: [(_context: unknown, { extensions }: GraphQLError) => void Object.assign(extensions, { code })],
  });
  return [
    useEngine({
      parse: (source: string | Source, options?: ParseOptions) => parseWithin(settings, source, options),
      validate: validateWithinStack,
    }),
    maxDepthPlugin(within(settings.GRAPHQL_DEPTH_MAX, 'GRAPHQL_TOO_DEEP')),
    maxAliasesPlugin(within(settings.GRAPHQL_ALIASES_MAX, 'GRAPHQL_TOO_MANY_ALIASES')),
    maxDirectivesPlugin(within(directivesMax, 'GRAPHQL_TOO_MANY_DIRECTIVES')),
    { onValidate: ({ addValidationRule }) => addValidationRule(introspectionRule) },
  ] as CallPlugin[];
}

export function documentError(code: DocumentErrorCode, message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { code } });
}

/** @throws GraphQLError with a code: the text is too long, too deep, has too many tokens or definitions, or is no GraphQL. */
function parseWithin(settings: Settings, documentSource: string | Source, options: ParseOptions = {}): DocumentNode {
  const source = typeof documentSource === 'string' ? new Source(documentSource) : documentSource;
  const { length } = source.body;
  if (length > charsMax) {
    const message = `The document has ${length} characters; at most ${charsMax} are allowed. Send long values as variables`;
    throw documentError('GRAPHQL_DOCUMENT_TOO_LONG', message);
  }
  requireFlat(source, settings.GRAPHQL_TOKENS_MAX);
  const noLocation = length > locatedMaxChars || source.body.split(/\r\n|[\n\r]/, locatedMaxLines).length === locatedMaxLines;
  const document = parse(source, { ...options, noLocation });
  const operations = document.definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION).length;
  requireFew('GRAPHQL_TOO_MANY_OPERATIONS', operations);
  requireFew('GRAPHQL_TOO_MANY_FRAGMENTS', document.definitions.length - operations);
  return document;
}

/** The rule for merged fields follows fragments that spread each other as deep as the stack goes. */
function validateWithinStack(...args: Parameters<typeof validate>): ReturnType<typeof validate> {
  try {
    return validate(...args);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return [documentError('GRAPHQL_TOO_DEEP', 'The fragments of the document are nested too deeply')];
  }
}

function requireFew(code: keyof typeof definitionsMax, count: number): void {
  const max = definitionsMax[code];
  if (count > max) throw documentError(code, `The document has ${count} of them; at most ${max} are allowed`);
}

/**
 * The parser goes one call deeper with each bracket, and where the stack ends hangs on how warm it is: the limit is ours instead.
 *
 * @throws GraphQLError, also where the source cannot be cut into tokens.
 */
function requireFlat(source: Source, tokensMax: number): void {
  const lexer = new Lexer(source);
  let depth = 0;
  for (let tokens = 0; lexer.advance().kind !== TokenKind.EOF; tokens += 1) {
    if (tokens === tokensMax) {
      throw documentError('GRAPHQL_TOO_MANY_TOKENS', `The document has more than ${tokensMax} tokens`);
    }
    if (openings.has(lexer.token.kind)) depth += 1;
    else if (closings.has(lexer.token.kind)) depth -= 1;
    if (depth > nestingMax) throw documentError('GRAPHQL_TOO_DEEP', 'The document is nested too deeply');
  }
}

const openings: ReadonlySet<string> = new Set([TokenKind.BRACE_L, TokenKind.BRACKET_L, TokenKind.PAREN_L]);
const closings: ReadonlySet<string> = new Set([TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R]);

/** Lists of introspection in one document, fragments unfolded; tools ask for nine. */
const schemaListsMax = 15;
const schemaLists: ReadonlySet<string> = new Set([
  ...['types', 'directives', 'fields', 'args', 'inputFields', 'interfaces', 'enumValues', 'possibleTypes'],
]);

/** Pothos' complexity does not weigh introspection. Each selection set is walked once. */
const introspectionRule: ValidationRule = (context) => {
  const listsIn = new Map<SelectionSetNode, number>();
  const count = (set: SelectionSetNode | undefined): number => {
    if (set === undefined || listsIn.has(set)) return listsIn.get(set as SelectionSetNode) ?? 0;
    // A circle is refused by another rule.
    listsIn.set(set, 0);
    const lists = set.selections.map((node) =>
      node.kind === Kind.FRAGMENT_SPREAD
        ? count(context.getFragment(node.name.value)?.selectionSet)
        : count(node.selectionSet) + (node.kind === Kind.FIELD && schemaLists.has(node.name.value) ? 1 : 0),
    );
    const sum = lists.reduce((total, one) => total + one, 0);
    listsIn.set(set, sum);
    return sum;
  };
  let lists = 0;
  return {
    Field: ({ name, selectionSet }) => {
      if (name.value !== '__schema' && name.value !== '__type') return;
      lists += count(selectionSet);
      if (lists <= schemaListsMax) return;
      const message = `The document reads ${lists} lists of the schema; at most ${schemaListsMax} are allowed`;
      context.reportError(documentError('GRAPHQL_TOO_COSTLY', message));
    },
  };
};
