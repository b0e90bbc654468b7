import {
  GraphQLError,
  type GraphQLSchema,
  Kind,
  NoFragmentCyclesRule,
  OverlappingFieldsCanBeMergedRule,
  type Source,
  specifiedRules,
  type ValidationRule,
  validate,
} from 'graphql';
import { FieldConflicts } from './field-conflicts.ts';
import { countFaults, type DocumentLimits, documentError } from './limits.ts';
import { MergedDocument, TooManyFields } from './merged-fields.ts';
import { type ParsedDocument, tooNested } from './parse.ts';

const faultsMax = 20;
/** An error of graphql-js may name every field of the document. */
const placesMax = 2;

/** `field-conflicts.ts` is the same rule in linear time. */
const linearRules = specifiedRules.filter((rule) => rule !== OverlappingFieldsCanBeMergedRule);

export interface Validated {
  /** Everything wrong with the document, up to a limit, or nothing. */
  readonly faults: readonly GraphQLError[];
  /** Of a document without faults. */
  readonly merged: MergedDocument;
}

/**
 * Validates a document in time that its limits bound: what has been counted grows the work of the rules that come after. Everything that is
 * checked later stands on what was checked before.
 */
export function validateDocument(schema: GraphQLSchema, parsed: ParsedDocument, limits: DocumentLimits): Validated {
  const merged = new MergedDocument(schema, parsed.document, limits.fieldsMax);
  const faults = countFaults(parsed.document, limits);
  try {
    // Circles before all else: other rules walk in them until the stack is full.
    for (const find of [circles, ruleFaults, conflicts]) {
      if (faults.length === 0) faults.push(...find(merged, parsed).map((fault) => placed(fault, parsed.source)));
    }
  } catch (error) {
    faults.push(refusal(error, limits));
  }
  for (const fault of faults) fault.extensions.code ??= 'GRAPHQL_VALIDATION_FAILED';
  return { faults, merged };
}

function conflicts(merged: MergedDocument, { document }: ParsedDocument): readonly GraphQLError[] {
  const rule = new FieldConflicts(merged);
  let found: readonly GraphQLError[] = [];
  for (const node of document.definitions) {
    if (node.kind === Kind.OPERATION_DEFINITION) found = rule.errorsOf(merged.root(node));
  }
  return found.slice(0, faultsMax);
}

function circles({ schema }: MergedDocument, parsed: ParsedDocument): readonly GraphQLError[] {
  return unplaced(schema, parsed, [NoFragmentCyclesRule]);
}

function ruleFaults({ schema }: MergedDocument, parsed: ParsedDocument): readonly GraphQLError[] {
  return unplaced(schema, parsed, linearRules);
}

/** The errors of graphql-js, whose line and column are wrong. */
function unplaced(
  schema: GraphQLSchema,
  { document, source }: ParsedDocument,
  rules: readonly ValidationRule[],
): readonly GraphQLError[] {
  const text = source?.body ?? '';
  // An error looks up the line of each of its nodes in the text of its source, in time that grows with both.
  if (source !== undefined) source.body = '';
  try {
    return validate(schema, document, rules, { maxErrors: faultsMax });
  } finally {
    if (source !== undefined) source.body = text;
  }
}

/** The error with the first of its places. */
function placed({ message, positions, extensions }: GraphQLError, source: Source | undefined): GraphQLError {
  if (source === undefined || positions === undefined) return new GraphQLError(message, { extensions });
  return new GraphQLError(message, { source, positions: positions.slice(0, placesMax), extensions });
}

function refusal(error: unknown, { fieldsMax }: DocumentLimits): GraphQLError {
  if (error instanceof RangeError) return tooNested();
  if (!(error instanceof TooManyFields)) throw error;
  const message = `The document unfolds to more than ${fieldsMax} fields; at most ${fieldsMax} are allowed. Spread fewer fragments`;
  return documentError('GRAPHQL_TOO_MANY_FIELDS', message);
}
