import { type CallResult, publicForm, type RunItem } from '../../entities/runs/event.ts';
import type { CallForm, FileSearchResult, ListedTool, WebSource } from '../../entities/runs/tool.ts';
import { builder } from '../builder/builder.ts';

type FormOf<Type extends CallForm['type']> = Extract<CallForm, { readonly type: Type }>;
type ItemOf<Type extends RunItem['type']> = Extract<RunItem, { readonly type: Type }>;

const WebSourceType = builder.objectRef<WebSource>('RunWebSource').implement({
  access: { scope: 'CHATS:READ' },
  description: 'A page of the web that a search found.',
  fields: (t) => ({
    url: t.exposeString('url', { description: 'Its address.' }),
    title: t.exposeString('title', { description: 'Its title.' }),
  }),
});

export const WebSearchType = builder.objectRef<FormOf<'web_search'>>('RunWebSearch').implement({
  access: { scope: 'CHATS:READ' },
  description: 'What a call of `web_search` did: it searched, or opened a page.',
  fields: (t) => ({
    action: t.string({ description: '`search` or `open_page`.', resolve: ({ action }) => action.type }),
    query: t.string({
      nullable: true,
      description: 'What was searched for; null for a page.',
      resolve: ({ action }) => (action.type === 'search' ? action.query : null),
    }),
    url: t.string({
      nullable: true,
      description: 'The page that was opened; null for a search.',
      resolve: ({ action }) => (action.type === 'open_page' ? action.url : null),
    }),
    sources: t.field({
      type: [WebSourceType],
      description: 'What the search found.',
      resolve: ({ action }) => (action.type === 'search' ? [...(action.sources ?? [])] : []),
    }),
  }),
});

const FileSearchResultType = builder.objectRef<FileSearchResult>('RunFileSearchResult').implement({
  access: { scope: 'CHATS:READ' },
  description: 'A passage that a search of knowledge found.',
  fields: (t) => ({
    fileId: t.exposeID('fileId', { description: 'The document it is from.' }),
    filename: t.exposeString('filename', { description: 'The name of that document.' }),
    score: t.exposeFloat('score', { description: 'How well it fits; higher is closer.' }),
    text: t.exposeString('text', { description: 'The passage.' }),
  }),
});

export const FileSearchType = builder.objectRef<FormOf<'file_search'>>('RunFileSearch').implement({
  access: { scope: 'CHATS:READ' },
  description: 'What a call of `file_search` looked for and found.',
  fields: (t) => ({
    queries: t.stringList({ description: 'What was searched for.', resolve: ({ queries }) => queries }),
    results: t.field({
      type: [FileSearchResultType],
      description: 'What was found, best first; empty until the call is over.',
      resolve: ({ results }) => [...results],
    }),
  }),
});

/** A call of `mcp`, with the item that asked for approval of it. */
type ApprovedCall = FormOf<'mcp'> & { readonly approvalRequestId: string | null };

export const McpCallType = builder.objectRef<ApprovedCall>('RunMcpCall').implement({
  access: { scope: 'CHATS:READ' },
  description: 'Which tool of an MCP server of the request a call is for.',
  fields: (t) => ({
    serverLabel: t.exposeString('serverLabel', { description: 'The label that the request gave the server.' }),
    tool: t.exposeString('tool', { description: 'The name of the tool at its server.' }),
    approvalRequestId: t.exposeID('approvalRequestId', {
      nullable: true,
      description: 'The item that asked for approval of the call; null when nobody was asked.',
    }),
  }),
});

const McpToolType = builder.objectRef<ListedTool>('RunMcpTool').implement({
  access: { scope: 'CHATS:READ' },
  description: 'A tool that an MCP server offers.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name at the server.' }),
    description: t.exposeString('description', { nullable: true, description: 'What it does, as the server says.' }),
    inputSchema: t.field({
      type: 'JsonSchema',
      description: 'JSON Schema of its arguments.',
      resolve: ({ inputSchema }) => inputSchema,
    }),
    annotations: t.field({
      type: 'JsonObject',
      nullable: true,
      description: 'What the server says of its effects, such as `readOnlyHint`.',
      resolve: ({ annotations }) => annotations,
    }),
  }),
});

export const McpListingType = builder.objectRef<ItemOf<'mcp_list_tools'>>('RunMcpListing').implement({
  access: { scope: 'CHATS:READ' },
  description: 'The tools of an MCP server of the request, as the run found them.',
  fields: (t) => ({
    serverLabel: t.exposeString('serverLabel', { description: 'The label that the request gave the server.' }),
    tools: t.field({
      type: [McpToolType],
      description: 'Those that the request allows.',
      resolve: ({ tools }) => [...tools],
    }),
    error: t.exposeString('error', { nullable: true, description: 'Why the server cannot be used; null when it can.' }),
  }),
});

export const ApprovalType = builder.objectRef<ItemOf<'function_call'>>('RunApproval').implement({
  access: { scope: 'CHATS:READ' },
  description:
    'A call of a tool of the service that waits for a person. It is answered with `submitToolOutputs`: `success` makes the call, `cancelled` does not.',
  fields: (t) => ({
    id: t.id({ description: 'What the answer names as its call.', resolve: ({ callId }) => callId }),
    serverLabel: t.string({
      nullable: true,
      description: 'The label of the MCP server that has the tool; null for other tools.',
      resolve: ({ form }) => (form?.type === 'mcp' ? form.serverLabel : null),
    }),
    tool: t.string({
      description: 'The tool: of an MCP server of the request its name there, else the name of the function.',
      resolve: ({ form, name }) => (form?.type === 'mcp' ? form.tool : name),
    }),
    arguments: t.exposeString('arguments', { description: 'The arguments as JSON text; empty until they are whole.' }),
  }),
});

export const RunCallErrorType = builder.objectRef<NonNullable<CallResult['error']>>('RunCallError').implement({
  access: { scope: 'CHATS:READ' },
  description: 'Why a call of a tool of the service failed. The model read it.',
  fields: (t) => ({
    code: t.exposeString('code', { description: 'For programs.' }),
    message: t.exposeString('message', { description: 'For a person to read.' }),
  }),
});

/** The form of a call, where it has that one. */
export function formOf<Type extends CallForm['type']>(item: RunItem, type: Type): FormOf<Type> | null {
  const form = item.type === 'server_tool_call' || item.type === 'function_call' ? item.form : undefined;
  return form?.type === type ? (publicForm(form, resultOf(item)) as FormOf<Type>) : null;
}

/** A call that was approved has the id of the item that asked. */
export function mcpCallOf(item: RunItem): ApprovedCall | null {
  const form = formOf(item, 'mcp');
  if (form === null) return null;
  return { ...form, approvalRequestId: item.type === 'server_tool_call' && item.isApproved === true ? item.callId : null };
}

/** The result of a call of a tool of the service, on whichever item it stands. */
export function resultOf(item: RunItem): CallResult | undefined {
  if (item.type === 'server_tool_call_output') return item;
  return item.type === 'server_tool_call' ? item.result : undefined;
}
