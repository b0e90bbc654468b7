import type { Caller } from '../../entities/accounts/caller.ts';
import { isObject } from '../../lib/json.ts';
import { type NamedFile, requireOwnFiles } from '../attachments/own-files.ts';
import type { Deps } from '../deps.ts';

/**
 * Checks the images that a request gives to `image_generation` to be changed: files of the caller.
 *
 * @param tools  of the request, as it was given; their forms are checked before.
 * @throws DomainError INVALID_VALUE, rejected, that names the member. Another user's file is answered like a missing one.
 *
 * Cost: no promise and no statement unless a tool names an image; then one statement.
 */
export function requireOwnImages(deps: Deps, caller: Caller, tools: unknown): undefined | Promise<unknown> {
  const named = imagesIn(tools);
  // A run reads no files of data sources by their ids.
  return named.length === 0 ? undefined : requireOwnFiles(deps, { ...caller, scopes: new Set() }, named);
}

function imagesIn(tools: unknown): readonly NamedFile[] {
  if (!Array.isArray(tools)) return [];
  return tools.flatMap((tool: unknown, index): readonly NamedFile[] => {
    if (!isObject(tool) || tool.type !== 'image_generation') return [];
    const member = tool.inputImage === undefined || tool.inputImage === null ? 'input_image' : 'inputImage';
    const id = tool[member];
    return typeof id === 'string' ? [{ id, param: `tools[${index}].${member}` }] : [];
  });
}
