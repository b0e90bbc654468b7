import { type DocumentNode, GraphQLError, Lexer, parse, Source, TokenKind } from 'graphql';
import { type DocumentLimits, documentError } from './limits.ts';

export interface ParsedDocument {
  readonly document: DocumentNode;
  /** What the nodes of the document name as their place; undefined when they name none. */
  readonly source: Source | undefined;
}

/**
 * Documents above this are parsed without places, and errors in them tell no line: graphql-js finds the line of each node of each error by
 * reading the document from its start.
 */
const locatedMaxChars = 8_192;
const locatedMaxLines = 500;
/** Nothing that a person writes. */
const nestingMax = 200;

/** @throws GraphQLError with a code: the text is too long, too deep, has too many tokens, or is no GraphQL. */
export function parseDocument(text: string, { charsMax, tokensMax }: DocumentLimits): ParsedDocument {
  if (text.length > charsMax) {
    const message = `The document has ${text.length} characters; at most ${charsMax} are allowed. Send long values as variables`;
    throw documentError('GRAPHQL_DOCUMENT_TOO_LONG', message);
  }
  const source = new Source(text);
  try {
    requireFlat(source, tokensMax);
    const isLocated = text.length <= locatedMaxChars && (text.match(/\r\n|[\n\r]/g)?.length ?? 0) < locatedMaxLines;
    const document = parse(source, { maxTokens: tokensMax, noLocation: !isLocated });
    return { document, source: isLocated ? source : undefined };
  } catch (error) {
    if (!(error instanceof GraphQLError) || error.extensions.code !== undefined) throw error;
    const isTooLong = error.message.includes('tokens. Parsing aborted');
    error.extensions.code = isTooLong ? 'GRAPHQL_TOO_MANY_TOKENS' : 'GRAPHQL_PARSE_FAILED';
    throw error;
  }
}

/** The error for a document whose brackets or fragments go too deep. */
export function tooNested(): GraphQLError {
  return documentError('GRAPHQL_TOO_DEEP', 'The document is nested too deeply');
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
    if (depth > nestingMax) throw tooNested();
  }
}

const openings: ReadonlySet<string> = new Set([TokenKind.BRACE_L, TokenKind.BRACKET_L, TokenKind.PAREN_L]);
const closings: ReadonlySet<string> = new Set([TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R]);
