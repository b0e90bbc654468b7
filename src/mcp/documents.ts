import type { CallToolResult, Tool } from '@modelcontextprotocol/server';
import type { Response } from 'express';
import type { Caller } from '../entities/people/caller.ts';
import type { ToolArguments } from './tools.ts';

/** A document that an organization has saved, as a tool. */
export interface ListedDocument {
  readonly name: string;
  readonly description: string;
  /** Whether it is a query. */
  readonly isRead: boolean;
  readonly inputSchema: object;
  /** Of the `data` of its result. */
  readonly outputSchema: object;
}

/** What a document answered: `errors` of members that may be null beside the others. */
interface DocumentReply {
  readonly data: Readonly<Record<string, unknown>>;
  readonly errors?: readonly { readonly message: string; readonly path: readonly (string | number)[] }[];
}

/** The documents that organizations have saved. */
export interface SavedDocuments {
  /** Those that a key may run. */
  list(caller: Caller): Promise<readonly ListedDocument[]>;
  /** Whether there is such a document, also one that the key may not run. */
  has(caller: Caller, name: string): Promise<boolean>;
  /** @throws DomainError when nothing of it succeeded. */
  run(call: {
    readonly caller: Caller;
    readonly res: Response;
    readonly name: string;
    readonly variables: ToolArguments;
  }): Promise<DocumentReply>;
}

/** The same for one request. */
export interface DocumentsOfCall {
  list(): Promise<readonly ListedDocument[]>;
  has(name: string): Promise<boolean>;
  run(name: string, variables: ToolArguments): Promise<DocumentReply>;
}

export function documentTool({ name, description, isRead, inputSchema, outputSchema }: ListedDocument): Tool {
  return {
    ...{ name, description },
    inputSchema: inputSchema as Tool['inputSchema'],
    outputSchema: outputSchema as NonNullable<Tool['outputSchema']>,
    annotations: { title: name, readOnlyHint: isRead, openWorldHint: false },
  };
}

/** The data, and a text for each member of it that failed. */
export function documentResult({ data, errors = [] }: DocumentReply): CallToolResult {
  const faults = errors.map(({ message, path }) => ({ type: 'text' as const, text: `${path.join('.')} is null: ${message}` }));
  return { content: [{ type: 'text', text: JSON.stringify(data) }, ...faults], structuredContent: { ...data } };
}
