import { faultParam } from '../apis/fault-params.ts';
import { graphqlOptions } from '../apis/graphql-inputs.ts';
import type { makeFor, Person } from '../make.ts';
import { graphqlTool } from '../tools/graphql-tool.ts';

/** The answer of an agent on one API, in terms that all share. */
export interface FlowAnswer {
  readonly status: number;
  readonly text: string;
  /** The titles of the citations. */
  readonly cited: readonly string[];
  /** The finished steps that the caller sees, with camelCase members. */
  // biome-ignore lint/suspicious/noExplicitAny: of any API.
  readonly steps: readonly any[];
  // biome-ignore lint/suspicious/noExplicitAny: of any API.
  readonly error: any;
  // biome-ignore lint/suspicious/noExplicitAny: of any API.
  readonly warnings: readonly any[];
  /** Everything that the caller received. */
  readonly raw: string;
  /** Null for a run that is not stored. */
  readonly runId: string | null;
}
type Make = ReturnType<typeof makeFor>;
export type AskFlow = (who: Person, agentId: string, prompt: string, members?: object) => Promise<FlowAnswer>;

// biome-ignore lint/suspicious/noExplicitAny: of any API.
type Wire = any;

/** {chats, completions, responses, GraphQL} × {stream, one piece}. */
export function flowSurfaces(make: Make): Readonly<Record<string, AskFlow>> {
  const chatOf = async (owner: Person, agentId: string) => (await make.chat({ owner, agentId })).id;
  return {
    'chats, one piece': async (who, agentId, prompt, members = {}) => {
      const { status, body } = await who.post(`/api/v1/chats/${await chatOf(who, agentId)}/messages`, { prompt, ...members });
      const cited = (body.citations ?? []).map(({ name }: Wire) => name);
      return answer(status, body.message?.content, cited, body.steps, body.error, body.warnings, body, body.runId);
    },
    'chats, stream': async (who, agentId, prompt, members = {}) => {
      const path = `/api/v1/chats/${await chatOf(who, agentId)}/messages`;
      const frames = await framesOf(who, path, { prompt, stream: true, ...members });
      if (!Array.isArray(frames)) return answer(frames.status, '', [], [], frames.body.error, [], frames.body, null);
      const said = frames.filter(({ type }) => type === 'message.delta').map(({ delta }) => delta);
      const cited = frames.filter(({ type }) => type === 'citation').map(({ citation }) => citation.name);
      const steps = frames.filter(({ type, step }) => type === 'step' && step !== undefined).map(({ step }) => step);
      const end = frames.find(({ type }) => type?.startsWith('run.') && type !== 'run.started');
      return answer(200, said.join(''), cited, steps, end?.error, frames[0]?.warnings, frames, frames[0]?.runId);
    },
    'completions, one piece': async (who, model, prompt, members = {}) => {
      const messages = [{ role: 'user', content: prompt }];
      const { status, body } = await who.post('/api/v1/chat/completions', { model, messages, ...members });
      const message = body.choices?.[0].message;
      const cited = (message?.annotations ?? []).map(({ url_citation: { title } }: Wire) => title);
      return answer(status, message?.content, cited, body.flow_steps?.map(camel), body.error, body.warnings, body, null);
    },
    'completions, stream': async (who, model, prompt, members = {}) => {
      const messages = [{ role: 'user', content: prompt }];
      const frames = await framesOf(who, '/api/v1/chat/completions', { model, messages, stream: true, ...members });
      if (!Array.isArray(frames)) return answer(frames.status, '', [], [], frames.body.error, [], frames.body, null);
      const deltas = frames.flatMap(({ choices = [] }) => choices.map(({ delta }: Wire) => delta));
      const cited = deltas.flatMap(({ annotations = [] }) => annotations.map(({ url_citation: { title } }: Wire) => title));
      const said = deltas.map(({ content }) => content ?? '').join('');
      const last = frames.find(({ flow_steps: steps }) => steps !== undefined);
      const warned = frames.find(({ warnings }) => warnings !== undefined);
      const failed = frames.find(({ error }) => error !== undefined);
      return answer(200, said, cited, last?.flow_steps.map(camel), failed?.error, warned?.warnings, frames, null);
    },
    'responses, one piece': async (who, model, input, members = {}) => {
      const { status, body } = await who.post('/api/v2/responses', { model, input, ...members });
      return responseAnswer(status, body, body, body.flow_steps?.map(camel));
    },
    'responses, stream': async (who, model, input, members = {}) => {
      const frames = await framesOf(who, '/api/v2/responses', { model, input, stream: true, ...members });
      if (!Array.isArray(frames)) return answer(frames.status, '', [], [], frames.body.error, [], frames.body, null);
      const steps = frames.filter(({ type }) => type === 'response.flow.step').map(({ step }) => camel(step));
      return responseAnswer(200, frames.at(-1)?.response, frames, steps);
    },
    'GraphQL, one piece': async (who, agentId, prompt, members = {}) => {
      const chatId = await chatOf(who, agentId);
      const { data, errors } = await who.graphql(
        'mutation ($chatId: ID!, $input: SendMessageInput!) { sendMessage(chatId: $chatId, input: $input) { id warnings { code message param } } }',
        { chatId, input: { prompt: { text: prompt }, ...graphqlMembers(members) } },
      );
      if (errors !== undefined) return graphqlRefusal(errors);
      const { id, warnings } = data.sendMessage;
      return graphqlAnswer(id, await eventsOf(who, `runEvents(runId: "${id}")`, {}), warnings);
    },
    'GraphQL, stream': async (who, agentId, prompt, members = {}) => {
      const chatId = await chatOf(who, agentId);
      const variables = { chatId, input: { prompt: { text: prompt }, ...graphqlMembers(members) } };
      const events = await eventsOf(
        who,
        'messageEvents(chatId: $chatId, input: $input)',
        variables,
        '($chatId: ID!, $input: SendMessageInput!)',
      );
      if (!Array.isArray(events)) return graphqlRefusal(events.errors);
      return graphqlAnswer(events[0]?.run?.id ?? null, events, []);
    },
  };
}

/** The members of a message as GraphQL takes them, of those that REST takes. */
function graphqlMembers({ options, tools, ...members }: Wire): object {
  const named = { ...members };
  if (options !== undefined) named.options = graphqlOptions(options);
  if (tools !== undefined) named.tools = tools.map(graphqlTool);
  return named;
}

const eventMembers = `sequence __typename
  ... on RunStarted { run { id } }
  ... on TextDelta { delta }
  ... on CitationAdded { citation { name } }
  ... on FlowStepCompleted { step { stepId type status input output durationMs } }
  ... on ItemDone { item { __typename ... on CallItem { name arguments } ... on MessageItem { text } ... on ToolOutputItem { output } } }
  ... on RunEnded { run { status error { code message } flowSteps { stepId } output { __typename ... on MessageItem { text } } } }`;

async function eventsOf(who: Person, field: string, variables: object, head = ''): Promise<Wire> {
  const events: Wire[] = [];
  for await (const { data, errors } of who.subscribe(`subscription ${head} { event: ${field} { ${eventMembers} } }`, {
    ...variables,
  })) {
    if (errors !== undefined) return { errors };
    events.push(data.event);
  }
  return events;
}

function graphqlAnswer(runId: string | null, events: readonly Wire[], warnings: readonly Wire[]): FlowAnswer {
  const said = events.filter((event) => event.__typename === 'TextDelta').map(({ delta }) => delta);
  const cited = events.filter((event) => event.__typename === 'CitationAdded').map(({ citation }) => citation.name);
  const steps = events
    .filter(({ step }) => step !== undefined)
    // GraphQL shows enums by their names.
    .map(({ step }) => ({ ...step, type: step.type.toLowerCase(), status: step.status.toLowerCase() }));
  return answer(200, said.join(''), cited, steps, events.at(-1)?.run?.error ?? undefined, warnings, events, runId);
}

function graphqlRefusal([error]: readonly Wire[]): FlowAnswer {
  const { code } = error.extensions;
  const param = faultParam(error);
  return answer(400, '', [], [], { code: String(code).toLowerCase(), param, message: error.message }, [], error, null);
}

function responseAnswer(status: number, body: Wire, raw: unknown, steps: readonly Wire[] | undefined): FlowAnswer {
  const parts = (body.output ?? []).flatMap(({ type, content }: Wire) => (type === 'message' ? content : []));
  const cited = parts.flatMap(({ annotations }: Wire) => annotations.map(({ title }: Wire) => title));
  const said = parts.map(({ text }: Wire) => text).join('');
  return answer(status, said, cited, steps, body.error ?? undefined, body.warnings, raw, body.id);
}

function answer(
  status: number,
  text: string | undefined,
  cited: readonly string[],
  steps: readonly Wire[] | undefined,
  error: Wire,
  warnings: readonly Wire[] | undefined,
  raw: unknown,
  runId: string | null,
): FlowAnswer {
  return {
    status,
    text: text ?? '',
    cited,
    steps: steps ?? [],
    error,
    warnings: warnings ?? [],
    raw: JSON.stringify(raw),
    runId,
  };
}

function camel({ step_id: stepId, duration_ms: durationMs, ...step }: Wire): Wire {
  return { stepId, ...step, durationMs };
}

/** The data of the frames of a stream; the whole reply of a refused request. */
async function framesOf(who: Person, path: string, body: object): Promise<Wire> {
  const reply = await who.call('POST', path, body, { accept: 'text/event-stream' });
  if (reply.headers.get('content-type')?.startsWith('text/event-stream') !== true) return reply;
  return String(reply.body)
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice('data: '.length)));
}
