import type { Response } from 'express';
import { type ExecutionResult, GraphQLError, type GraphQLSchema, Kind } from 'graphql';
import type { Deps } from '../../../domain/deps.ts';
import { requireScope } from '../../../domain/ground/access/policy.ts';
import { requireOperation } from '../../../domain/ground/audit/operation.ts';
import { DomainError, type ErrorCode, errorCodes, type Fault } from '../../../entities/ground/errors.ts';
import { kindOfId } from '../../../entities/ground/ids.ts';
import type { SavedDocument } from '../../../entities/operations/saved-document.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import { CallContext, findRequestId } from '../../../http/context.ts';
import { unwrapError } from '../../../http/errors.ts';
import { collectFields, collectFragments } from '../../../lib/selections.ts';
import type { GraphFault } from '../../ground/errors/input-faults.ts';
import { presentResult } from '../../ground/errors/present.ts';
import { Call } from '../call.ts';
import type { Operations } from '../operations.ts';
import { requireVariables } from '../variables.ts';
import { type CheckedDocument, checkDocument } from './check.ts';
import { inputSchema, type ObjectSchema, outputSchema } from './json-schemas.ts';

/** A saved document as ways in beside GraphQL serve it. */
export interface RunnableDocument {
  readonly name: string;
  readonly description: string;
  /** Whether it is a query. */
  readonly isRead: boolean;
  /** Of its variables. */
  readonly inputSchema: ObjectSchema;
  /** Of the `data` of its result. */
  readonly outputSchema: ObjectSchema;
}

export interface DocumentCall {
  readonly caller: Caller;
  readonly res: Response;
  /** Or its id. */
  readonly name: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** What a document answered: `errors` of members that may be null beside the others. */
export interface DocumentResult {
  readonly data: Readonly<Record<string, unknown>>;
  readonly errors?: readonly { readonly message: string; readonly code: string; readonly path: readonly (string | number)[] }[];
}

interface Compiled extends CheckedDocument {
  readonly runnable: RunnableDocument;
  /** `Query.agents` */
  readonly operations: readonly string[];
}

/** The saved documents of organizations, run as a request with their text would be: with the key, the limits and the audit log of their caller. */
export class DocumentRunner {
  readonly #deps: Deps;
  readonly #schema: GraphQLSchema;
  readonly #operations: Operations;
  /** What is wrong with a document that no longer fits the schema is a text. */
  readonly #compiled = new WeakMap<SavedDocument, Compiled | string>();

  constructor(deps: Deps, schema: GraphQLSchema, operations: Operations) {
    this.#deps = deps;
    this.#schema = schema;
    this.#operations = operations;
  }

  /** Those of the caller's organization that the scopes of its key admit, by name. */
  async list(caller: Caller): Promise<readonly RunnableDocument[]> {
    const documents = await this.#find(caller);
    return [...documents.values()].flatMap((saved) => {
      const compiled = this.#compile(saved);
      return typeof compiled !== 'string' && admits(caller, compiled) ? [compiled.runnable] : [];
    });
  }

  /** Whether the organization of the caller has saved such a document, whatever the scopes of the key. */
  async has(caller: Caller, name: string): Promise<boolean> {
    return (await this.#find(caller)).has(name);
  }

  /**
   * @throws DomainError NOT_FOUND; INSUFFICIENT_SCOPE for a key without the scope of one of its root fields, with an entry of the audit log; CONFLICT for a document that no longer fits the schema; INVALID_VALUE for variables; and what the document failed with,
   *   when nothing of it succeeded.
   */
  async run({ caller, res, name, variables }: DocumentCall): Promise<DocumentResult> {
    const documents = await this.#find(caller);
    const saved = documents.get(name) ?? documents.values().find(({ id }) => id === name);
    if (saved === undefined) throw new DomainError('NOT_FOUND', `There is no saved document ${name.slice(0, 100)}`);
    const compiled = this.#compile(saved);
    if (typeof compiled === 'string') throw new DomainError('CONFLICT', `The document ${name} ${compiled}; save it again`);
    const context = new CallContext(this.#deps, caller, [], findRequestId(res.req), res);
    for (const operation of compiled.operations) requireOperation(context, operation, idsIn(variables));
    this.#requireVariables(compiled, variables);
    const call = new Call(res.req, res, false, { requestId: findRequestId(res.req), logger: this.#deps.logger }, undefined);
    call.caller = caller;
    const { document } = compiled;
    try {
      const result = await this.#operations.execute({
        schema: this.#schema,
        document,
        variableValues: variables,
        contextValue: { call },
      });
      if (Symbol.asyncIterator in result) throw new Error('a query or a mutation has one result');
      return toResult(result, call);
    } catch (error) {
      throw asDomainError(error);
    }
  }

  async #find(caller: Caller): Promise<ReadonlyMap<string, SavedDocument>> {
    const { savedDocuments } = this.#deps.storage.operations;
    return (await savedDocuments.findAll(caller.orgId, this.#deps.now().getTime())).byName;
  }

  #compile(saved: SavedDocument): Compiled | string {
    const known = this.#compiled.get(saved);
    if (known !== undefined) return known;
    const checked = checkDocument(this.#schema, this.#deps.settings, saved.document);
    const compiled = typeof checked === 'string' ? checked : toCompiled(this.#schema, saved, checked);
    this.#compiled.set(saved, compiled);
    return compiled;
  }

  #requireVariables({ operation }: Compiled, variables: Readonly<Record<string, unknown>>): void {
    const { variableDefinitions = [] } = operation;
    const names = variableDefinitions.map(({ variable }) => variable.name.value);
    const unknown = Object.keys(variables).find((name) => !names.includes(name));
    if (unknown !== undefined) {
      const allowed = names.length === 0 ? 'it has none' : `it has ${names.join(', ')}`;
      throw new DomainError('INVALID_VALUE', `${unknown.slice(0, 100)} is no variable of this document: ${allowed}`, {
        param: unknown.slice(0, 100),
      });
    }
    try {
      // Faults are told by the names of variables: nobody who calls the document sees its arguments.
      requireVariables(this.#schema, { kind: Kind.DOCUMENT, definitions: [] }, variableDefinitions, variables);
    } catch (error) {
      throw asDomainError(error);
    }
  }
}

/** For the entry of a refusal. */
function idsIn(variables: Readonly<Record<string, unknown>>): readonly string[] {
  return Object.values(variables).filter((value) => typeof value === 'string' && kindOfId(value) !== undefined) as string[];
}

function toCompiled(schema: GraphQLSchema, { name, description }: SavedDocument, checked: CheckedDocument): Compiled {
  const { document, operation } = checked;
  const type = schema.getRootType(operation.operation);
  const places = type === undefined || type === null ? [] : [{ selectionSet: operation.selectionSet, type }];
  const fields = collectFields(schema, collectFragments(document), places).map((field) => field.node.name.value);
  return {
    ...checked,
    operations: fields.filter((field) => !field.startsWith('__')).map((field) => `${type?.name}.${field}`),
    runnable: {
      ...{ name, description, isRead: operation.operation === 'query' },
      inputSchema: inputSchema(schema, checked),
      outputSchema: outputSchema(schema, checked),
    },
  };
}

function admits(caller: Caller, { operations }: Compiled): boolean {
  try {
    for (const operation of operations) requireScope(caller, operation);
    return true;
  } catch (error) {
    if (error instanceof DomainError) return false;
    throw error;
  }
}

/** @throws the first error when there is no data. */
function toResult(result: ExecutionResult, call: Call): DocumentResult {
  const { data, errors = [] } = result;
  if (data === undefined || data === null) throw errors[0] ?? new Error('a result has data or errors');
  if (errors.length === 0) return { data };
  const shown = presentResult({ errors }, call.errors).errors as readonly GraphQLError[];
  return {
    data,
    errors: shown.map(({ message, path = [], extensions }) => ({ message, code: String(extensions.code).toLowerCase(), path })),
  };
}

/** What graphql-js and the limits refuse, as the error of other ways in; anything else as it is. */
function asDomainError(error: unknown): unknown {
  const cause = unwrapError(error);
  if (!(cause instanceof GraphQLError)) return cause;
  const { code, faults = [] } = cause.extensions as { readonly code?: string; readonly faults?: readonly GraphFault[] };
  const toCode = (text: string | undefined): ErrorCode =>
    text !== undefined && text in errorCodes ? (text as ErrorCode) : 'INVALID_VALUE';
  const shownFaults = faults.map(({ path, message, allowed, ...fault }): Fault => {
    const shown = { code: toCode(fault.code), message, param: path ?? '' };
    return allowed === null ? shown : { ...shown, allowed };
  });
  const [first] = shownFaults;
  return new DomainError(toCode(code), cause.message, first === undefined ? {} : { param: first.param, faults: shownFaults });
}
