import SchemaBuilder from '@pothos/core';
import DataloaderPlugin from '@pothos/plugin-dataloader';
import type { Deps } from '../domain/deps.ts';
import type { Caller } from '../entities/caller.ts';

/** What every resolver gets. The door has answered 401 before one exists, so there is always a caller. */
export interface GraphContext {
  readonly deps: Deps;
  readonly caller: Caller;
  readonly requestId: string;
  /** Fires when the client of this request is gone. */
  readonly signal: AbortSignal;
}

/** A file that came with a request: streamed, untrusted in every declared member. */
export interface UploadedFile {
  readonly filename: string;
  readonly mimeType: string;
  stream(): NodeJS.ReadableStream;
}

export interface SchemaTypes {
  Context: GraphContext;
  DefaultFieldNullability: false;
  DefaultInputFieldRequiredness: true;
  Scalars: {
    ID: { Input: string; Output: string };
    DateTime: { Input: Date; Output: Date };
    JSON: { Input: unknown; Output: unknown };
    File: { Input: UploadedFile; Output: never };
  };
}

/**
 * The schema's builder: defines no type of its own. Scopes are not written on fields: `domain/policy.ts` lists every root field with
 * its scope, and schema.ts refuses to build when one is missing.
 */
export const builder = new SchemaBuilder<SchemaTypes>({
  plugins: [DataloaderPlugin],
  defaultFieldNullability: false,
  defaultInputFieldRequiredness: true,
});
