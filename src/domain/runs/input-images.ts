import type { Caller } from '../../entities/accounts/caller.ts';
import { isObject } from '../../lib/json.ts';
import type { Deps } from '../deps.ts';
import { Faults } from '../faults.ts';
import { findFiles } from '../files/files.ts';

/**
 * Checks the images that a request gives to `image_generation` to be changed: files of the caller.
 *
 * @param tools  of the request, as it was given; their forms are checked before.
 * @throws DomainError INVALID_VALUE, rejected, that names the member. Another user's file is answered like a missing one.
 *
 * Cost: no promise and no statement unless a tool names an image; then one statement.
 */
export function requireOwnImages(deps: Deps, caller: Caller, tools: unknown): undefined | Promise<undefined> {
  const named = imagesIn(tools);
  return named.length === 0 ? undefined : requireOwn(deps, caller, named);
}

interface NamedImage {
  readonly id: string;
  readonly param: string;
}

async function requireOwn(deps: Deps, caller: Caller, named: readonly NamedImage[]): Promise<undefined> {
  const ids = named.map(({ id }) => id);
  // A run reads no files of data sources by their ids.
  const reader: Caller = { ...caller, scopes: new Set() };
  const own = new Set((await findFiles(deps, reader, ids)).map(({ id }) => id));
  const faults = new Faults();
  for (const { id, param } of named) {
    if (!own.has(id)) faults.add(param, `${param} names no file of yours, or one without content`);
  }
  faults.throwIfAny();
  return undefined;
}

function imagesIn(tools: unknown): readonly NamedImage[] {
  if (!Array.isArray(tools)) return [];
  return tools.flatMap((tool: unknown, index): readonly NamedImage[] => {
    if (!isObject(tool) || tool.type !== 'image_generation') return [];
    const member = tool.inputImage === undefined || tool.inputImage === null ? 'input_image' : 'inputImage';
    const id = tool[member];
    return typeof id === 'string' ? [{ id, param: `tools[${index}].${member}` }] : [];
  });
}
