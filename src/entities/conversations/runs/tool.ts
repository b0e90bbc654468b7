import type { WireObject } from './response.ts';

/** The tools of the service, by the type that a request or an agent names. */
/** Images that one call of `image_generation` makes. */
export const imagesMax = 4;

export const toolTypes = [
  'web_search',
  'file_search',
  'python',
  'sandbox',
  'image_generation',
  'spreadsheet',
  'memory',
  'mcp_server',
  'mcp',
  'subagent',
  'deep_research',
] as const;
export type ToolType = (typeof toolTypes)[number];

/** Other names of the same tools, as the responses format and older requests have them. */
const aliases: Readonly<Record<string, ToolType>> = {
  web_search_preview: 'web_search',
  code_interpreter: 'python',
};

/** Every name under which a tool of the service may be enabled. */
export const toolTypeNames: readonly string[] = [...toolTypes, ...Object.keys(aliases)];

/** The tool that a type names; undefined for `function` and for what the service does not know. */
export function findToolType(name: unknown): ToolType | undefined {
  if (typeof name !== 'string') return undefined;
  return Object.hasOwn(aliases, name) ? aliases[name] : toolTypes.find((type) => type === name);
}

/** A tool of the service that a request or an agent has switched on. */
export interface EnabledTool {
  readonly type: ToolType;
  /** Its further members in wire format (snake case), checked; never a secret. */
  readonly options: WireObject;
  /** Each call waits for a person's approval. */
  readonly requireApproval?: true;
  /** The request gave secrets with this tool; a tool without the mark gets none of them, whatever its name is. */
  readonly hasSecrets?: true;
  /** Only those of its functions that read are offered: the run is in chat mode `plan`. */
  readonly onlyReads?: true;
  /** For `mcp`: the tools of its server, as a listing in the request has them. The server is not asked for them. */
  readonly listed?: readonly ListedTool[];
  /** For `mcp`: the digest of the list of its server that the thread shows last. The same list is not shown again. */
  readonly shownListing?: string;
  /** The agent that has it as a standing tool: it opens nothing of the asking person without a grant. Absent: the request names it. */
  readonly ofAgent?: string;
}

/** A file that a call made. */
export interface OutputFile {
  /** The id of the chat file; null in a stateless run, which stores none. */
  readonly fileId: string | null;
  readonly filename: string;
  readonly mimeType: string;
  readonly sizeBytes: number;
  /** A link that opens without a key: signed for an hour, or a data URL of at most 1 MB in a stateless run. */
  readonly url: string;
}

/** A page of the web that a call read or found. */
export interface WebSource {
  readonly url: string;
  readonly title: string;
}

export interface FileSearchResult {
  readonly fileId: string;
  readonly filename: string;
  readonly score: number;
  readonly text: string;
}

/** Calls that the responses format has an item of its own for. Others are `server_tool_call` items. */
export type CallForm =
  | {
      readonly type: 'web_search';
      readonly action:
        | { readonly type: 'search'; readonly query: string; readonly sources?: readonly WebSource[] }
        | { readonly type: 'open_page'; readonly url: string };
    }
  | { readonly type: 'file_search'; readonly queries: readonly string[]; readonly results: readonly FileSearchResult[] }
  | {
      readonly type: 'mcp';
      readonly serverLabel: string;
      /** The tool's name at its server. */
      readonly tool: string;
    };

/** The `server_label` of tools of the service and of agents, where the responses format asks for approval of a call. */
export const ownServerLabel = 'parley';

/** A tool of an MCP server, as `mcp_list_tools` shows it. */
export interface ListedTool {
  readonly name: string;
  readonly description: string | null;
  readonly inputSchema: WireObject;
  readonly annotations: WireObject | null;
}
