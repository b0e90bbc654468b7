import { afterAll } from 'vitest';
import { startMcpUpstream } from '../../fixtures/upstreams/mcp/server.ts';
import { indexed } from '../knowledge/knowledge.ts';
import type { Person } from '../make.ts';
import { type TestBench, withService } from '../service.ts';
import { never, type UpstreamScript } from '../upstream.ts';
import { DescribedClient } from './described.ts';

/** A service whose every reply is compared with openapi.json, and a scripted model. */
export interface DescribedBench extends TestBench {
  readonly ann: Person;
  readonly client: DescribedClient;
  /** An agent with knowledge that cites it. */
  readonly agentId: string;
  /** An agent whose flow answers and whose steps are seen. */
  readonly flowAgentId: string;
}

export const testModel = 'openai/test-model';

export async function withDescribed(): Promise<DescribedBench> {
  const bench = await withService('model', { env: { PYTHON_TIMEOUT_MS: '1', SEARCH_URL: unanswered } });
  const { make } = bench;
  const ann = await make.person({ role: 'ADMIN' });
  const { id: agentId } = await make.agent({
    owner: ann,
    modelId: testModel,
    generateCitations: true,
    intermediateStepsVisible: true,
  });
  const data = { services: [{ name: 'Puncture repair', priceEuro: 15 }] };
  await indexed(ann, (await make.apiDataSource({ owner: ann, agentId, name: 'Prices', data })).id);
  const { id: flowAgentId } = await make.agent({ owner: ann, modelId: testModel, intermediateStepsVisible: true });
  const steps = [
    { id: 'asked', type: 'prompt', text: 'Be brief. {{input}}' },
    { id: 'answer', type: 'model', prompt: '{{steps.asked.output}}' },
  ];
  const flow = { name: 'Main', versions: [{ version: 1, active: true, data: { steps } }] };
  await ann.post(`/api/v1/ais/${flowAgentId}/flows`, flow);
  afterAll(() => mcpServer.close());
  return {
    ...{ ...bench, ann, agentId, flowAgentId },
    client: new DescribedClient(ann),
  };
}

/** Nothing listens there. */
const unanswered = 'http://127.0.0.1:1';
const called = (name: string, args: object) => [{ id: 'call_1', name, arguments: JSON.stringify(args) }];
export const addCall = (id: string) => ({ id, name: 'add', arguments: '{"a":1,"b":2}' });
/** Answers one word and never ends. */
export const endless: UpstreamScript = { text: ['word ', 'word '], restGate: never };
export const knowing = 'an agent with knowledge';
export const flowing = 'an agent with a flow';
/** The agent that answers a scenario; undefined: the plain model does. */
export function agentOf(bench: DescribedBench, name: string): string | undefined {
  return { [knowing]: bench.agentId, [flowing]: bench.flowAgentId }[name];
}
const mcpServer = await startMcpUpstream();
const mcp = { type: 'mcp', server_label: 'desk', server_url: mcpServer.url, require_approval: 'never' };
/** Without a program: it fails, and none is run. */
export const python = [{ id: 'call_1', name: 'python', arguments: '{}' }];
const research = [{ id: 'call_1', name: 'deep_research', arguments: '{"task":"Compare","questions":["What is it?","Why?"]}' }];
const likely = {
  text: ['It ', 'is'],
  logprobs: ['It ', 'is'].map((token) => {
    const told = { token, logprob: -0.5, bytes: [1] };
    return { ...told, top_logprobs: [told] };
  }),
};
/** What the model answers, and members of the request for it. */
export const scenarios: readonly [string, UpstreamScript, Readonly<Record<string, unknown>>?][] = [
  ['text', { text: ['It ', 'is ', '3.'] }],
  ['nothing', { text: '' }],
  ['a refusal', { refusal: 'I will not.' }],
  [
    'text with how likely it was',
    { text: 'It', logprobs: [{ token: 'It', logprob: -0.1, bytes: [73, 116], top_logprobs: [{ token: 'He', logprob: -2 }] }] },
    { top_logprobs: 1 },
  ],
  ['thinking, then text', { reasoning: 'Let me see', text: 'It is 3.' }, { reasoning: { effort: 'low', summary: 'auto' } }],
  ['text and calls', { text: 'One moment', toolCalls: [addCall('call_1'), addCall('call_2')] }],
  ['an answer that is too long', { text: 'It is', finish: 'length' }, { max_output_tokens: 2 }],
  ['likely tokens', likely, { include: ['message.output_text.logprobs'], top_logprobs: 1 }],
  ['research', { toolCalls: research }, { tools: [{ type: 'deep_research' }] }],
  ['a filtered answer', { text: 'It is', finish: 'content_filter' }],
  ['an upstream that breaks off', { text: ['It ', 'is ', '3.'], chunkDelayMs: 5, cutAtByte: 420 }],
  ['a tool of the service that fails', { toolCalls: python }, { tools: [{ type: 'python' }] }],
  [
    'a search of the web that fails',
    { toolCalls: called('web_search', { query: 'bikes' }) },
    { tools: [{ type: 'web_search' }], include: ['web_search_call.action.sources'] },
  ],
  ['a page that is not opened', { toolCalls: called('open_page', { url: 'nowhere' }) }, { tools: [{ type: 'web_search' }] }],
  [
    knowing,
    { toolCalls: called('search_knowledge', { query: 'What does a puncture repair cost?' }) },
    { tools: [{ type: 'file_search' }], include: ['file_search_call.results'] },
  ],
  ['a tool of an MCP server', { toolCalls: called('desk__echo', { text: 'Seven' }) }, { tools: [mcp] }],
  ['a tool of an MCP server that fails', { toolCalls: called('desk__fail', {}) }, { tools: [mcp] }],
  [
    'a tool of an MCP server that waits for approval',
    { toolCalls: called('desk__act', {}) },
    { tools: [{ ...mcp, require_approval: 'always' }] },
  ],
  [
    'an MCP server that does not answer',
    { text: 'I cannot.' },
    { tools: [{ ...mcp, server_label: 'nobody', server_url: `${unanswered}/mcp` }] },
  ],
  [flowing, { text: ['It ', 'is ', '3.'] }, { tools: [] }],
  [knowing, { text: ['It costs 15 € [', '1', '].'] }, { input: 'What does a puncture repair cost?', tools: [] }],
];
