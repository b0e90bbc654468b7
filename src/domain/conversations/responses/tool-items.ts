import { searchName } from '../../../engine/models/prompts/passages.ts';
import { foreignNote, markForeign } from '../../../engine/tools/foreign/foreign-text.ts';
import { digestTools } from '../../../engine/tools/mcp/listing-digest.ts';
import { mcpFunctionName } from '../../../engine/tools/names.ts';
import type { ResponseItem, WireObject } from '../../../entities/conversations/runs/response.ts';
import type { EnabledTool, ListedTool } from '../../../entities/conversations/runs/tool.ts';
import { isObject, readString } from '../../../lib/json/json.ts';
import type { Deps } from '../../deps.ts';
import type { Place } from './place.ts';

/** A call that an item of a hosted tool tells of, with the names that the model knows the tools of the service by. */
export interface CallRecord {
  readonly name: string;
  /** JSON text. */
  readonly arguments: string;
  /** A text, or content parts. */
  readonly output: string | readonly WireObject[];
}

const notRepeated = 'What it found is not repeated here. Call again if it is needed.';
const noOutput = 'Cancelled: no output was given for this call.';
/** Most characters of one passage. */
const passageCharsMax = 20_000;

/**
 * The call and its output that the model is told of; undefined for other items, and for one that does not say what was done.
 *
 * @param seesImages  whether the model takes images.
 */
export function toCallRecord(item: WireObject, seesImages: boolean): CallRecord | undefined {
  switch (item.type) {
    case 'web_search_call':
      return toWebCall(item.action);
    case 'file_search_call':
      return toFileSearch(item);
    case 'code_interpreter_call':
      return { name: 'python', arguments: json({ code: String(item.code ?? '') }), output: printedBy(item.outputs) };
    case 'image_generation_call':
      return toImageCall(item, seesImages);
    case 'mcp_call':
      return {
        name: mcpFunctionName(String(item.server_label), String(item.name)),
        arguments: readArguments(item.arguments),
        output: readMcpOutput(item),
      };
    default:
      return undefined;
  }
}

/**
 * The outputs of calls that waited for approval and were made since, by the id of the call that asked. A client that sends a conversation back
 * whole sends the approval too: it must not be made again.
 */
export function outputsAfterApproval(items: readonly ResponseItem[]): ReadonlyMap<string, unknown> {
  const requestIds = new Set(
    items.flatMap(({ item }) => {
      if (item.type === 'mcp_approval_request') return [String(item.id)];
      return item.type === 'function_call' ? [String(item.call_id)] : [];
    }),
  );
  const outputs = new Map(
    items.flatMap(({ item }) => (item.type === 'server_tool_call_output' ? [[item.call_id, item.output]] : [])),
  );
  return new Map(
    items.flatMap(({ item }): (readonly [string, unknown])[] => {
      if (item.type === 'mcp_call' && typeof item.approval_request_id === 'string')
        return [[item.approval_request_id, readMcpOutput(item)]];
      const isMade = item.type === 'server_tool_call' && requestIds.has(String(item.call_id));
      return isMade ? [[String(item.call_id), outputs.get(item.call_id) ?? noOutput]] : [];
    }),
  );
}

/**
 * The tools with the listings among the items: a server whose tools the request lists is not asked for them, and the last listing of a label counts;
 * and with what the thread shows of their servers already: a list that is still the same is not repeated.
 *
 * Cost: nothing without a tool `mcp`, or where nothing comes before; else the request and the events of the response before.
 */
export async function withListings(
  deps: Pick<Deps, 'storage' | 'runs'>,
  place: Place,
  tools: readonly EnabledTool[],
  items: readonly ResponseItem[],
): Promise<readonly EnabledTool[]> {
  if (!tools.some(({ type }) => type === 'mcp')) return tools;
  const listings = new Map(
    items.flatMap(({ item }) => {
      const isWhole = item.type === 'mcp_list_tools' && typeof item.error !== 'string' && Array.isArray(item.tools);
      return isWhole ? [[item.server_label, (item.tools as readonly WireObject[]).map(readListedTool)] as const] : [];
    }),
  );
  const shown = await shownListings(deps, place);
  return tools.map((tool) => {
    if (tool.type !== 'mcp') return tool;
    const listed = listings.get(tool.options.server_label) ?? [];
    const shownListing = shown.get(tool.options.server_label);
    return {
      ...tool,
      ...(listed.length === 0 ? {} : { listed }),
      ...(shownListing === undefined ? {} : { shownListing }),
    };
  });
}

/** The digest of the list of each server that the thread shows last, by the label of the server. */
async function shownListings(
  { storage, runs }: Pick<Deps, 'storage' | 'runs'>,
  { chat, previous }: Place,
): Promise<ReadonlyMap<unknown, string>> {
  const digestsByLabel = new Map<unknown, string>();
  const before = previous?.id ?? (chat === undefined ? undefined : await storage.conversations.chats.findLastRunId(chat.id));
  if (before === undefined) return digestsByLabel;
  const request = (await storage.conversations.runs.findRequest(before))?.request;
  // What the response before knew as shown earlier.
  for (const { options, shownListing } of isObject(request) ? ((request.serviceTools ?? []) as readonly EnabledTool[]) : []) {
    if (shownListing !== undefined) digestsByLabel.set(options.server_label, shownListing);
  }
  for await (const batch of runs.replay(before).batches()) {
    for (const event of batch) {
      if (event.type !== 'response.output_item.done' || event.item.type !== 'mcp_list_tools') continue;
      if (event.item.error === null) digestsByLabel.set(event.item.serverLabel, digestTools(event.item.tools));
    }
  }
  return digestsByLabel;
}

function readListedTool({ name, description, input_schema: schema, annotations }: WireObject): ListedTool {
  return {
    name: String(name),
    description: readString(description) ?? null,
    inputSchema: isObject(schema) ? schema : { type: 'object' },
    annotations: isObject(annotations) ? annotations : null,
  };
}

function toWebCall(action: unknown): CallRecord | undefined {
  if (!isObject(action)) return undefined;
  const { type, query, queries, url, pattern, sources } = action;
  if (type === 'open_page') return { name: 'open_page', arguments: json({ url: String(url ?? '') }), output: notRepeated };
  if (type === 'find_in_page') {
    return {
      name: 'find_in_page',
      arguments: json({ url: String(url ?? ''), pattern: String(pattern ?? '') }),
      output: notRepeated,
    };
  }
  const queryText = readString(query) ?? (Array.isArray(queries) ? queries.join(', ') : undefined);
  if (queryText === undefined) return undefined;
  const sourceUrls = Array.isArray(sources) ? sources.filter(isObject).flatMap((source) => readString(source.url) ?? []) : [];
  const lines = sourceUrls.length === 0 ? [] : ['It found these pages:', ...sourceUrls];
  return { name: 'web_search', arguments: json({ query: queryText }), output: [...lines, notRepeated].join('\n') };
}

function toFileSearch({ queries, results }: WireObject): CallRecord {
  const query = Array.isArray(queries) ? queries.map(String).join(' ') : '';
  const call = { name: searchName, arguments: json({ query }) };
  if (!Array.isArray(results)) return { ...call, output: notRepeated };
  if (results.length === 0) return { ...call, output: 'The search found nothing.' };
  const passages = results
    .filter(isObject)
    .map(({ filename, text }) =>
      markForeign('passage', { title: readString(filename) ?? '' }, String(text ?? ''), passageCharsMax),
    );
  return { ...call, output: [foreignNote, ...passages].join('\n') };
}

function printedBy(outputs: unknown): string {
  if (!Array.isArray(outputs)) return 'What it printed is not repeated here.';
  const texts = outputs.filter(isObject).map(({ type, logs }) => (type === 'image' ? '[an image]' : String(logs ?? '')));
  return texts.length === 0 ? 'It printed nothing.' : texts.join('\n');
}

function toImageCall(
  { result, revised_prompt: prompt, output_format: format, status }: WireObject,
  seesImages: boolean,
): CallRecord {
  const call = { name: 'generate_image', arguments: json({ prompt: String(prompt ?? '') }) };
  if (typeof result !== 'string' || result === '') {
    return { ...call, output: status === 'failed' ? 'Error: no image was made.' : 'The image was shown to the user.' };
  }
  const text = { type: 'output_text', text: 'The image was made and shown to the user.' };
  const isReadable = seesImages && /^[A-Za-z0-9+/=\s]+$/.test(result);
  const url = `data:image/${readString(format) ?? 'png'};base64,${result}`;
  return { ...call, output: isReadable ? [text, { type: 'output_image', image_url: url }] : text.text };
}

function readMcpOutput({ output, error }: WireObject): string {
  if (error !== undefined && error !== null) return `Error: ${typeof error === 'string' ? error : json(error)}`;
  return readString(output) ?? noOutput;
}

function readArguments(input: unknown): string {
  const text = String(input ?? '').trim();
  return text === '' ? '{}' : text;
}

function json(value: unknown): string {
  return JSON.stringify(value);
}
