import { afterAll, describe, expect, it } from 'vitest';
import { startMcpUpstream } from '../../../../fixtures/upstreams/mcp/server.ts';
import { graphqlCompletion, graphqlResponse } from '../../../../support/apis/graphql-inputs.ts';
import { withService } from '../../../../support/service.ts';
import { graphqlInput } from '../../../../support/tools/graphql-tool.ts';

/** Of an MCP server that cannot be used when a run begins, the caller reads so, whichever API was asked. */
const server = await startMcpUpstream();
const refusing = await startMcpUpstream();
refusing.intercept = (_rpc, res) => Boolean(res.writeHead(401).end('no entry'));
const moved = await startMcpUpstream();
moved.intercept = (_rpc, res) => Boolean(res.writeHead(307, { location: 'http://localhost:1/mcp' }).end());
const gone = await startMcpUpstream();
await gone.close();
const { make, upstream } = await withService('model');
const model = 'openai/test-model';
const messages = [{ role: 'user', content: 'Go' }];
const ann = await make.person();

afterAll(async () => {
  await Promise.all([server.close(), refusing.close(), moved.close()]);
});

interface Warning {
  readonly code: string;
  readonly message: string;
  readonly param: string | null;
}
interface Asked {
  readonly agentId?: string;
  readonly tools?: readonly object[];
}
type Read = (asked: Asked) => Promise<readonly Warning[]>;

const chatOf = async ({ agentId }: Asked) => (await make.chat({ owner: ann, agentId: agentId ?? (await bare()) })).id;
const bare = async () => (await make.agent({ owner: ann, modelId: model })).id;
const named = ({ agentId, tools }: Asked) => ({ model: agentId ?? model, ...(tools === undefined ? {} : { tools }) });
const given = ({ tools }: Asked) => (tools === undefined ? {} : { tools });
const lastJson = (frames: readonly { readonly data: string }[]) =>
  frames.flatMap(({ data }) => (data.startsWith('{') ? [JSON.parse(data)] : []));
const shown = 'warnings { code message param }';

const apis: Readonly<Record<string, Read>> = {
  'chat messages': async (asked) =>
    (await ann.post(`/api/v1/chats/${await chatOf(asked)}/messages`, { prompt: 'Go', ...given(asked) })).body.warnings,
  'chat messages, streamed': async (asked) => {
    const path = `/api/v1/chats/${await chatOf(asked)}/messages`;
    const events = lastJson(await ann.stream(path, { prompt: 'Go', stream: true, ...given(asked) }));
    return events.find(({ type }) => type === 'run.completed')?.warnings;
  },
  completions: async (asked) => (await ann.post('/api/v1/chat/completions', { messages, ...named(asked) })).body.warnings,
  'completions, streamed': async (asked) =>
    lastJson(await ann.stream('/api/v1/chat/completions', { messages, stream: true, ...named(asked) })).at(-1)?.warnings,
  responses: async (asked) => (await ann.post('/api/v2/responses', { input: 'Go', ...named(asked) })).body.warnings,
  'responses, read later': async (asked) => {
    const { id } = (await ann.post('/api/v2/responses', { input: 'Go', ...named(asked) })).body;
    return (await ann.get(`/api/v2/responses/${id}`)).body.warnings;
  },
  'responses, streamed': async (asked) =>
    lastJson(await ann.stream('/api/v2/responses', { input: 'Go', stream: true, ...named(asked) })).at(-1)?.response.warnings,
  'GraphQL completions': async (asked) =>
    (
      await ann.graphql(`mutation ($input: CompletionInput!) { createCompletion(input: $input) { ${shown} } }`, {
        input: graphqlCompletion({ messages, ...named(asked) }),
      })
    ).data.createCompletion.warnings,
  'GraphQL completions, streamed': async (asked) => {
    const query = `subscription ($input: CompletionInput!) { completionEvents(input: $input) {
      ... on RunStarted { run { ${shown} } } ... on RunEnded { run { ${shown} } }
    } }`;
    const input = graphqlCompletion({ messages, ...named(asked) });
    const events = await Array.fromAsync(ann.subscribe(query, { input }));
    return events.flatMap(({ data }) => data.completionEvents.run?.warnings ?? []);
  },
  'GraphQL responses': async (asked) =>
    (
      await ann.graphql(`mutation ($input: ResponseInput!) { createResponse(input: $input) { ${shown} } }`, {
        input: graphqlResponse({ input: 'Go', store: false, ...named(asked) }),
      })
    ).data.createResponse.warnings,
  'GraphQL messages': async (asked) => {
    const input = graphqlInput({ prompt: 'Go', ...given(asked) });
    const query = `subscription ($chatId: ID!, $input: SendMessageInput!) { messageEvents(chatId: $chatId, input: $input) { ... on RunEnded { run { ${shown} } } } }`;
    const events = await Array.fromAsync(ann.subscribe(query, { chatId: await chatOf(asked), input }));
    return events.at(-1).data.messageEvents.run.warnings;
  },
};
const ofRequest: Readonly<Record<string, string>> = {
  unreachable: gone.url,
  refused: refusing.url,
  private: 'http://10.0.0.1/mcp',
  redirected: moved.url,
};

describe.each(Object.entries(apis))('%s', (_api, read) => {
  it.each(Object.entries(ofRequest))('warn of a server of the request that is %s', async (_why, server_url) => {
    const tools = [{ type: 'mcp', server_label: 'shop', server_url }];
    const warning = {
      code: 'mcp_unavailable',
      message: expect.stringMatching(/^The tools of the MCP server shop are not offered: ./),
      param: 'tools',
    };
    expect(await read({ tools })).toEqual([warning]);
  });

  it('warn of a server of an agent, without where it stands', async () => {
    const agentId = await bare();
    const data = { url: 'http://10.1.2.3/mcp' };
    const added = await ann.post(`/api/v1/ais/${agentId}/tools`, { name: 'desk', type: 'MCP_SERVER', data });
    expect(added.status, JSON.stringify(added.body)).toBe(200);
    const message = 'The tools of the MCP server desk are not offered: the server cannot be used now';
    expect(await read({ agentId })).toEqual([{ code: 'mcp_unavailable', message, param: null }]);
  });

  it('warn of allowed_tools without a name that the server lists', async () => {
    const tools = [{ type: 'mcp', server_label: 'shop', server_url: server.url, allowed_tools: ['nothing'] }];
    const message = expect.stringContaining('allowed_tools has none of the names that it lists (');
    expect(await read({ tools })).toEqual([{ code: 'tool_not_available', message, param: 'tools' }]);
  });

  it('say nothing of a server that answers', async () => {
    const tools = [{ type: 'mcp', server_label: 'shop', server_url: server.url, allowed_tools: ['echo', 'nothing'] }];
    expect((await read({ tools })) ?? []).toEqual([]);
  });
});

describe('a forced call of a server that cannot be used', () => {
  const tools = [{ type: 'mcp', server_label: 'shop', server_url: 'http://10.0.0.1/mcp' }];
  const choices = {
    'by its label': { type: 'mcp', server_label: 'shop' },
    'as any tool': 'required',
    'as one of allowed tools': {
      ...{ type: 'allowed_tools', mode: 'required' },
      tools: [{ type: 'mcp', server_label: 'shop' }],
    },
  };

  it.each(Object.entries(choices))('fails a response with its code, %s', async (_how, tool_choice) => {
    const begun = await ann.post('/api/v2/responses', { model, input: 'Go', tools, tool_choice });
    expect([begun.body.status, begun.body.error?.code], JSON.stringify(begun.body)).toEqual(['failed', 'mcp_unavailable']);
    expect(begun.body.error.message).toContain('The tools of the MCP server shop are not offered');
    expect(upstream.requests).toEqual([]);
  });

  it.each(Object.entries(choices).slice(0, 2))('refuses a completion, %s', async (_how, tool_choice) => {
    const { status, body } = await ann.post('/api/v1/chat/completions', { model, messages, tools, tool_choice });
    expect([status, body.error.code, body.error.param]).toEqual([400, 'mcp_unavailable', 'tool_choice']);
    const query = 'mutation ($input: CompletionInput!) { createCompletion(input: $input) { id } }';
    const { errors } = await ann.graphql(query, {
      input: graphqlCompletion({ model, messages, tools, tool_choice }),
    });
    expect(errors?.[0]?.extensions?.code).toBe('MCP_UNAVAILABLE');
    expect(upstream.requests).toEqual([]);
  });
});
