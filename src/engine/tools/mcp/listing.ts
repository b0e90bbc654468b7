import type { ListedTool } from '../../../entities/conversations/runs/tool.ts';
import { isObject, readString } from '../../../lib/json/json.ts';
import { cutText } from '../../../lib/text/text.ts';

/** Tools of one server that are offered. */
const toolsMax = 128;
const nameMax = 200;
const descriptionMax = 4_000;
/** A larger schema is left out: the model may then pass any object. */
const schemaCharsMax = 32_000;
const schemasCharsMax = 256_000;
const annotationCharsMax = 2_000;

export interface McpTools {
  readonly tools: readonly ListedTool[];
  /** How many more the server has than are offered. */
  readonly leftOut: number;
  /** Whether the server has resources to read. */
  readonly hasResources?: boolean;
}

/** Reads what a server says of its tools. Everything in it is foreign: what is too large or no tool is left out. */
export function readTools(toolEntries: readonly unknown[]): McpTools {
  const tools: ListedTool[] = [];
  const names = new Set<string>();
  let room = schemasCharsMax;
  for (const one of toolEntries) {
    if (tools.length === toolsMax) break;
    if (!isObject(one) || typeof one.name !== 'string' || !isName(one.name) || names.has(one.name)) continue;
    const schema = isObject(one.inputSchema) ? one.inputSchema : { type: 'object' };
    const length = JSON.stringify(schema).length;
    const isWithinRoom = length <= Math.min(room, schemaCharsMax);
    if (isWithinRoom) room -= length;
    names.add(one.name);
    tools.push({
      name: one.name,
      description: readDescription(one),
      inputSchema: isWithinRoom ? { ...schema, type: 'object' } : { type: 'object' },
      annotations: smallObject(one.annotations),
    });
  }
  return { tools, leftOut: toolEntries.length - tools.length };
}

function isName(name: string): boolean {
  return name !== '' && name.length <= nameMax && name.isWellFormed();
}

function readDescription({ description, title }: Readonly<Record<string, unknown>>): string | null {
  const text = readString(description) ?? readString(title);
  return text === undefined ? null : cutText(text.toWellFormed(), descriptionMax);
}

function smallObject(value: unknown): ListedTool['annotations'] {
  return isObject(value) && JSON.stringify(value).length <= annotationCharsMax ? value : null;
}
