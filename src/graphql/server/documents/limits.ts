import { type DocumentNode, GraphQLError, Kind, visit } from 'graphql';
import type { Settings } from '../../../settings.ts';
import type { DocumentErrorCode } from '../../errors.ts';

/** Most directives in a GraphQL document. */
const directivesMax = 20;
/** Longest GraphQL document, in UTF-16 code units. Long values belong into variables, which BODY_MAX_BYTES bounds. */
const charsMax = 262_144;

/** What a document may ask for; each from the setting of its name. */
export interface DocumentLimits {
  /** UTF-16 code units: a document is mostly ASCII. */
  readonly charsMax: number;
  readonly depthMax: number;
  readonly tokensMax: number;
  readonly aliasesMax: number;
  readonly directivesMax: number;
  /** Of all operations, fragments unfolded. */
  readonly fieldsMax: number;
  readonly costMax: number;
  /** Items of a page when a variable gives its size and the size is not known. */
  readonly listMax: number;
}

/** Rules of validation walk the fragments once for each operation. */
const fragmentsMax = 100;
const operationsMax = 50;

export function documentLimits(settings: Settings): DocumentLimits {
  return {
    charsMax,
    depthMax: settings.GRAPHQL_DEPTH_MAX,
    tokensMax: settings.GRAPHQL_TOKENS_MAX,
    aliasesMax: settings.GRAPHQL_ALIASES_MAX,
    directivesMax,
    fieldsMax: settings.GRAPHQL_FIELDS_MAX,
    costMax: settings.GRAPHQL_COST_MAX,
    listMax: settings.LIST_MAX,
  };
}

export function documentError(code: DocumentErrorCode, message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { code } });
}

/** What a document holds too much of: counted before validation, whose own work grows with it. */
export function countFaults(document: DocumentNode, limits: DocumentLimits): GraphQLError[] {
  const { definitions } = document;
  let aliases = 0;
  let directives = 0;
  visit(document, {
    Field: (node) => {
      if (node.alias !== undefined) aliases += 1;
    },
    Directive: () => {
      directives += 1;
    },
  });
  const fragments = definitions.filter((node) => node.kind === Kind.FRAGMENT_DEFINITION).length;
  const operations = definitions.filter((node) => node.kind === Kind.OPERATION_DEFINITION).length;
  const counts = [
    ['GRAPHQL_TOO_MANY_OPERATIONS', 'operations', operations, operationsMax],
    ['GRAPHQL_TOO_MANY_FRAGMENTS', 'fragments', fragments, fragmentsMax],
    ['GRAPHQL_TOO_MANY_ALIASES', 'aliases', aliases, limits.aliasesMax],
    ['GRAPHQL_TOO_MANY_DIRECTIVES', 'directives', directives, limits.directivesMax],
  ] as const;
  return counts.flatMap(([code, things, count, max]) =>
    count > max ? [documentError(code, `The document has ${count} ${things}; at most ${max} are allowed`)] : [],
  );
}
