import { useEngine } from '@envelop/core';
import { maxAliasesPlugin } from '@escape.tech/graphql-armor-max-aliases';
import { maxDepthPlugin } from '@escape.tech/graphql-armor-max-depth';
import { maxDirectivesPlugin } from '@escape.tech/graphql-armor-max-directives';
import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  Lexer,
  type ParseOptions,
  parse,
  Source,
  TokenKind,
  type ValidationRule,
  validate,
} from 'graphql';
import type { Settings } from '../../settings.ts';
import type { DocumentErrorCode } from '../errors.ts';
import type { CallPlugin } from './call.ts';
import { unfoldingFault } from './unfolding.ts';

/** Most directives in a document. */
const directivesMax = 20;
/** Longest document, in UTF-16 code units. Long values belong into variables, which BODY_MAX_BYTES bounds. */
const charsMax = 262_144;
/** Nothing that a person writes. */
const nestingMax = 200;
/**
 * Documents above this are parsed without places, and errors in them tell no line: graphql-js finds the line of each node of each error by
 * reading the document from its start.
 */
const locatedMaxChars = 8_192;
const faultsMax = 20;

/** Bounds what a document may ask for, before a resolver runs. Its cost hangs on the variables: `operations.ts`. */
export function documentLimits(settings: Settings): CallPlugin[] {
  const armor = (code: DocumentErrorCode, n: number) => ({ n, onReject: [coded(code)] });
  return [
    useEngine({
      parse: (source: string | Source, options?: ParseOptions) => parseWithin(settings, source, options),
      validate: (schema: GraphQLSchema, document: DocumentNode, rules?: readonly ValidationRule[]) =>
        validateWithin(settings, schema, document, rules),
    }),
    maxDepthPlugin({ ...armor('GRAPHQL_TOO_DEEP', settings.GRAPHQL_DEPTH_MAX), flattenFragments: true }),
    maxAliasesPlugin(armor('GRAPHQL_TOO_MANY_ALIASES', settings.GRAPHQL_ALIASES_MAX)),
    maxDirectivesPlugin(armor('GRAPHQL_TOO_MANY_DIRECTIVES', directivesMax)),
  ] as CallPlugin[];
}

export function documentError(code: DocumentErrorCode, message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { code } });
}

function coded(code: DocumentErrorCode) {
  return (_context: unknown, error: GraphQLError) => {
    error.extensions.code = code;
  };
}

/** @throws GraphQLError with a code: the text is too long, too deep, has too many tokens, or is no GraphQL. */
function parseWithin(settings: Settings, given: string | Source, options: ParseOptions = {}): DocumentNode {
  const source = typeof given === 'string' ? new Source(given) : given;
  const { length } = source.body;
  const { GRAPHQL_TOKENS_MAX: maxTokens } = settings;
  if (length > charsMax) {
    const message = `The document has ${length} characters; at most ${charsMax} are allowed. Send long values as variables`;
    throw documentError('GRAPHQL_DOCUMENT_TOO_LONG', message);
  }
  try {
    requireFlat(source, maxTokens);
    return parse(source, { ...options, maxTokens, noLocation: length > locatedMaxChars });
  } catch (error) {
    if (error instanceof GraphQLError && error.message.includes('tokens. Parsing aborted')) {
      error.extensions.code = 'GRAPHQL_TOO_MANY_TOKENS';
    }
    throw error;
  }
}

/**
 * The parser goes one call deeper with each bracket, and where the stack ends hangs on how warm it is: the limit is ours instead.
 *
 * @throws GraphQLError, also where the source cannot be cut into tokens.
 */
function requireFlat(source: Source, tokensMax: number): void {
  const lexer = new Lexer(source);
  let depth = 0;
  for (let tokens = 0; tokens <= tokensMax; tokens += 1) {
    const { kind } = lexer.advance();
    if (kind === TokenKind.EOF) return;
    if (openings.has(kind)) depth += 1;
    else if (closings.has(kind)) depth -= 1;
    if (depth > nestingMax) throw documentError('GRAPHQL_TOO_DEEP', 'The document is nested too deeply');
  }
}

const openings: ReadonlySet<string> = new Set([TokenKind.BRACE_L, TokenKind.BRACKET_L, TokenKind.PAREN_L]);
const closings: ReadonlySet<string> = new Set([TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R]);

/** The rules of graphql-js and of armor, behind the one check that bounds their own work. */
function validateWithin(
  settings: Settings,
  schema: GraphQLSchema,
  document: DocumentNode,
  rules: readonly ValidationRule[] | undefined,
): readonly GraphQLError[] {
  const fault = unfoldingFault(document, settings.GRAPHQL_FIELDS_MAX);
  return fault === undefined ? validate(schema, document, rules, { maxErrors: faultsMax }) : [documentError(...fault)];
}
