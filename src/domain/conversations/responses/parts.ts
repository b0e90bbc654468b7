import type { WireObject } from '../../../entities/conversations/runs/response.ts';
import { isObject } from '../../../lib/json/json.ts';
import type { ContentParam } from '../../../wire/responses/parts.ts';

/**
 * A part in the current spelling of the format, which has two type names for text. The output of a tool of the service may use both: `textType` is
 * undefined.
 */
export function inOneSpelling(part: unknown, textType: 'input_text' | 'output_text' | undefined): unknown {
  if (!isObject(part)) return part;
  const isText = part.type === 'text' || part.type === 'input_text' || part.type === 'output_text';
  if (!isText) return part;
  return { ...part, type: textType ?? (part.type === 'output_text' ? 'output_text' : 'input_text') };
}

/** A valid part, as it is stored and listed. given-items.ts looks up files and addresses. */
export function storedPart(part: ContentParam): WireObject {
  const partFields = withoutNulls(part);
  switch (part.type) {
    case 'output_text':
      return { ...partFields, annotations: readList(part.annotations), logprobs: readList(part.logprobs) };
    case 'input_image':
      return { detail: 'auto', ...partFields };
    case 'input_file':
      return typeof part.file_data === 'string' ? { filename: 'file', ...partFields } : partFields;
    default:
      return partFields;
  }
}

function readList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function withoutNulls(members: WireObject): WireObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined && value !== null));
}
