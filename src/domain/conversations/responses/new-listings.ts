import { digestOf } from '../../../engine/tools/mcp/listing-digest.ts';
import type { EnabledTool } from '../../../entities/conversations/runs/tool.ts';
import { isObject } from '../../../lib/json/json.ts';
import type { Deps } from '../../deps.ts';
import type { Place } from './place.ts';

/**
 * The tools with what the thread shows of their servers already: a list that is still the same is not repeated.
 *
 * Cost: nothing without a tool `mcp`, or where nothing comes before; else the request and the events of the response before.
 */
export async function withNewListings(
  { storage, runs }: Pick<Deps, 'storage' | 'runs'>,
  { chat, previous }: Place,
  tools: readonly EnabledTool[],
): Promise<readonly EnabledTool[]> {
  if (!tools.some(({ type }) => type === 'mcp')) return tools;
  const before = previous?.id ?? (chat === undefined ? undefined : await storage.chats.findLastRunId(chat.id));
  if (before === undefined) return tools;
  const shown = new Map<unknown, string>();
  const request = (await storage.runs.findRequest(before))?.request;
  // What the response before knew as shown earlier.
  for (const { options, shownListing } of isObject(request) ? ((request.serviceTools ?? []) as readonly EnabledTool[]) : []) {
    if (shownListing !== undefined) shown.set(options.server_label, shownListing);
  }
  for await (const batch of runs.replay(before).batches()) {
    for (const event of batch) {
      if (event.type !== 'response.output_item.done' || event.item.type !== 'mcp_list_tools') continue;
      if (event.item.error === null) shown.set(event.item.serverLabel, digestOf(event.item.tools));
    }
  }
  return tools.map((tool) => {
    const shownListing = tool.type === 'mcp' ? shown.get(tool.options.server_label) : undefined;
    return shownListing === undefined ? tool : { ...tool, shownListing };
  });
}
