import { expect } from 'vitest';
import type { SseFrame } from '../client.ts';
import type { ApiServer } from '../egress/api-server.ts';
import { makeFor, type Person } from '../make.ts';
import { eventually } from '../processes/eventually.ts';
import type { TestService } from '../service.ts';
import type { Upstream, UpstreamRequest, UpstreamScript } from '../upstream.ts';
import { expectAccepted } from './accepted-request.ts';
import { eventsOf, type WireEvent, walk } from './response-walk.ts';

/** One part of a model's answer, and the text by which the test finds it in the log. */
export interface Step {
  readonly delta: object;
  readonly mark: 'text' | 'reasoning' | 'call' | 'arguments' | 'tool';
}
const callPart = (index: number, part: object) => ({ tool_calls: [{ index, ...part }] });
const named = (id: string, name: string, args: string) => ({ id, type: 'function', function: { name, arguments: args } });
export const says = (content: string): Step => ({ delta: { content }, mark: 'text' });
export const thinks = (text: string): Step => ({ delta: { reasoning_content: text }, mark: 'reasoning' });
export const calls = (index: number): Step => ({ delta: callPart(index, named(`call_${index}`, 'add', '')), mark: 'call' });
export const argues = (index: number, piece: string): Step => ({
  delta: callPart(index, { function: { arguments: piece } }),
  mark: 'arguments',
});
/** A complete call of the agent's own tool; it must be the last step of an answer. */
export const looksUp: Step = { delta: callPart(0, named('call_api', 'look_up', '{"what":"it"}')), mark: 'tool' };

/** How a run gets to the place where it is cut. */
export interface Scenario {
  readonly name: string;
  /** The model's answers, a list of steps for each request to the model. */
  readonly answers: readonly (readonly Step[])[];
  readonly hasAgent?: boolean;
  /** `resumed`: the answers come after a pause. `steered`: a message is added to the run during the first model call. */
  readonly how?: 'resumed' | 'steered';
}
/** After the first `steps` steps of answer number `answer`. After a tool call: while the tool runs. */
export interface Place {
  readonly answer: number;
  readonly steps: number;
}
export function placesOf({ answers }: Scenario): readonly Place[] {
  return answers.flatMap((steps, answer) => Array.from({ length: steps.length + 1 }, (_, count) => ({ answer, steps: count })));
}

/** Whether a process that takes over the run at that place continues it: there was no output yet, or the tool may be called again. */
export function goesOnElsewhere({ scenario, place }: Pick<StandingRun, 'scenario' | 'place'>): boolean {
  const { answer, steps } = place;
  const last = steps > 0 ? scenario.answers[answer]?.[steps - 1] : scenario.answers[answer - 1]?.at(-1);
  return last === undefined || last.mark === 'tool';
}

export type Manner = 'background' | 'foreground' | 'chat';

export const responsesPath = '/api/v2/responses';
export const testModel = 'openai/test-model';
const tools = [{ type: 'function', name: 'add', parameters: { type: 'object' } }];

/** A run that is held: its model or its tool sends nothing more until the run is cut. */
export interface StandingRun {
  readonly id: string;
  readonly conversation: string;
  readonly scenario: Scenario;
  readonly place: Place;
  readonly requests: readonly UpstreamRequest[];
  releaseTool(): void;
  /** For a run in the foreground: its only reader disconnects. */
  leave(): Promise<unknown>;
}

/** Makes runs that are held at any place of their log, and checks whether a cut run is complete. */
export class CutRuns {
  readonly #service: TestService;
  readonly #scripts = new Map<string, (request: UpstreamRequest) => UpstreamScript>();
  readonly #toolCalls = new Map<string, () => Promise<unknown>>();
  readonly #owner: Person;
  readonly #agentId: string;
  #count = 0;

  private constructor(service: TestService, owner: Person, agentId: string) {
    this.#service = service;
    this.#owner = owner;
    this.#agentId = agentId;
  }

  /** The service needs EGRESS_ALLOW for the tool of its agent. */
  static async prepare(service: TestService, api: ApiServer): Promise<CutRuns> {
    const make = makeFor(service);
    const owner = await make.person();
    const agent = await make.agent({ owner, modelId: testModel });
    const made = new CutRuns(service, owner, agent.id);
    const parameters = { type: 'object', properties: { what: { type: 'string' } }, required: ['what'] };
    const data = { description: 'Looks it up', parameters, method: 'GET', url: `${api.url}/{what}` };
    const tool = await owner.post(`/api/v1/ais/${agent.id}/tools`, { name: 'look_up', type: 'API_FUNCTION', data });
    expect(tool.status).toBe(200);
    api.answer(async ({ path }) => {
      await made.#toolCalls.get(path.slice(1))?.();
      return { body: '{"found":1}' };
    });
    return made;
  }

  /** Makes the model send the scenario of each run. */
  script(upstream: Upstream): void {
    upstream.otherwise((request) => {
      const token = /case\d+/.exec(JSON.stringify(request.body?.messages))?.[0] ?? '';
      return this.#scripts.get(token)?.(request) ?? { text: 'Done.' };
    });
  }

  get owner(): Person {
    return this.#owner;
  }

  async standing(scenario: Scenario, place: Place, manner: Manner = 'background'): Promise<StandingRun> {
    this.#count += 1;
    const token = `case${this.#count}`;
    const requests: UpstreamRequest[] = [];
    const [begun, there, toolCalled, toolMayEnd, steered] = [signal(), signal(), signal(), signal(), signal()];
    const steps = scenario.answers[place.answer]?.slice(0, place.steps) ?? [];
    const isAtTool = steps.at(-1)?.mark === 'tool';
    if (!isAtTool) toolMayEnd.resolve();
    if (scenario.how !== 'steered') steered.resolve();
    this.#toolCalls.set(token, () => {
      toolCalled.resolve();
      return toolMayEnd.promise;
    });
    let number = scenario.how === 'resumed' ? -2 : -1;
    this.#scripts.set(token, (request) => {
      requests.push(request);
      number += 1;
      begun.resolve();
      if (number === -1) return said(halves, false, token);
      if (number === place.answer) there.resolve();
      if (number > place.answer) return { text: 'Done.' };
      const script = number < place.answer ? said(scenario.answers[number] ?? [], true, token) : said(steps, isAtTool, token);
      return number === 0 ? { ...script, gate: steered.promise } : script;
    });

    const asked = scenario.hasAgent === true ? { model: this.#agentId } : { model: testModel, tools };
    let reader: AsyncGenerator<SseFrame> | undefined;
    const begin = async (path: string, members: object): Promise<WireEvent> => {
      if (manner === 'chat') return this.#beginChat(token);
      if (manner === 'background') return (await this.#owner.post(path, { ...members, background: true })).body;
      reader = this.#owner.sse('POST', path, { ...members, stream: true });
      return JSON.parse((await reader.next()).value.data).response;
    };
    const { id, conversation } = await begin(responsesPath, { ...asked, input: `A ${token}` });
    let after = -1;
    if (scenario.how === 'resumed') {
      await this.#shown(id, -1, halves);
      await this.#owner.post(`${responsesPath}/${id}/pause`);
      after = (await Array.fromAsync(this.#service.deps.runs.replay(id))).length - 1;
      await begin(`${responsesPath}/${id}/resume`, {});
    }
    if (scenario.how === 'steered') {
      await begun.promise;
      const steer = { ...asked, input: 'Steered', conversation: conversation.id, thread_mode: 'steer', background: true };
      expect((await this.#owner.post(responsesPath, steer)).body.id).toBe(id);
      steered.resolve();
    }
    await there.promise;
    await this.#shown(id, after, [...scenario.answers.slice(0, place.answer).flat(), ...steps]);
    if (isAtTool) await toolCalled.promise;
    const leave = () => reader?.return(undefined) ?? Promise.resolve();
    return { id, conversation: conversation.id, scenario, place, requests, releaseTool: toolMayEnd.resolve, leave };
  }

  /** @returns the run in the form of a response. */
  async #beginChat(token: string): Promise<WireEvent> {
    const chat = (await this.#owner.post(`/api/v1/ais/${this.#agentId}/chats`)).body;
    const [{ name, parameters }] = tools as [(typeof tools)[number]];
    const input = { prompt: { text: `A ${token}` }, tools: [{ function: { name, parameters } }] };
    const query = 'mutation ($chatId: ID!, $input: SendMessageInput!) { sendMessage(chatId: $chatId, input: $input) { id } }';
    const { data } = await this.#owner.graphql(query, { chatId: chat.id, input });
    return { id: data.sendMessage.id, conversation: { id: chat.id } };
  }

  /** Resolves when the log has these steps after a sequence number. */
  async #shown(id: string, after: number, steps: readonly Step[]): Promise<void> {
    const missing: Step['mark'][] = steps.map(({ mark }) => mark).filter((mark) => mark !== 'tool');
    if (missing.length === 0) return;
    for await (const event of this.#service.deps.runs.follow(id, after, new AbortController().signal)) {
      const isCall = event.type === 'response.output_item.added' && event.item.type === 'function_call';
      const found = missing.indexOf(isCall ? 'call' : (marks[event.type] ?? 'tool'));
      if (found >= 0) missing.splice(found, 1);
      if (missing.length === 0) return;
    }
  }

  async get(id: string): Promise<WireEvent> {
    return (await this.#owner.get(`${responsesPath}/${id}`)).body;
  }

  /** Pauses a run whose tool is running: releases the tool once the run knows that it must pause. */
  async pause(run: StandingRun): Promise<WireEvent> {
    const paused = this.#owner.post(`${responsesPath}/${run.id}/pause`);
    await eventually(async () => {
      const { rows } = await this.#service.deps.storage.db.pool.query(
        `select 1 from runs where id = $1 and ("pauseRequestedAt" is not null or status <> 'in_progress')`,
        [run.id],
      );
      expect(rows).toHaveLength(1);
    });
    run.releaseTool();
    return (await paused).body;
  }

  nextTurn(run: StandingRun, members: object = {}): Promise<{ readonly body: WireEvent }> {
    return this.#owner.post(responsesPath, { model: testModel, input: 'Next', conversation: run.conversation, ...members });
  }

  /** Waits for the end, and checks that stream, body and history agree on it. @returns the response. */
  async whole(run: StandingRun, statuses: readonly string[]): Promise<WireEvent> {
    const response = await eventually(async () => {
      const found = await this.get(run.id);
      expect(statuses, JSON.stringify(found)).toContain(found.status);
      return found;
    });
    const events = eventsOf(await Array.fromAsync(this.#owner.sse('GET', `${responsesPath}/${run.id}?stream=true`)));
    expect(walk(events)).toEqual(response);
    const middle = Math.floor(events.length / 2);
    const rest = await Array.fromAsync(this.#owner.sse('GET', `${responsesPath}/${run.id}?stream=true&starting_after=${middle}`));
    expect(eventsOf(rest)).toEqual(events.slice(middle + 1));
    return response;
  }

  /** Checks that the next turn works, that the model gets what `response` said, and that the request is valid for every provider. */
  async goesOn(run: StandingRun, response: WireEvent): Promise<void> {
    const { body } = await this.nextTurn(run);
    expect(body, JSON.stringify(body)).toMatchObject({ status: 'completed', output: [{ content: [{ text: 'Done.' }] }] });
    for (const request of run.requests) expectAccepted(request);
    const messages = run.requests.at(-1)?.body?.messages as readonly { readonly content: unknown }[];
    const told = messages.map(({ content }) => content);
    const texts = response.output.flatMap((item: WireEvent) => (item.type === 'message' ? [item.content[0].text] : []));
    for (const text of texts) expect(told).toContain(text);
  }
}

const halves = [says('Half '), says('of it')];
const marks: Readonly<Record<string, Step['mark']>> = {
  'response.output_text.delta': 'text',
  'response.reasoning_text.delta': 'reasoning',
  'response.function_call_arguments.delta': 'arguments',
};

function signal(): PromiseWithResolvers<void> {
  return Promise.withResolvers<void>();
}

/** The event stream of these steps; with `ends` false it stays open and silent. */
function said(steps: readonly Step[], ends: boolean, token: string): UpstreamScript {
  const isCall = steps.some(({ mark }) => mark === 'call' || mark === 'tool');
  const frames = steps.map(({ delta }) => ({ delta, finish_reason: null as string | null }));
  if (ends) frames.push({ delta: {}, finish_reason: isCall ? 'tool_calls' : 'stop' });
  const chunks = [{ delta: { role: 'assistant', content: '' }, finish_reason: null }, ...frames].map(
    (choice) =>
      `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, ...choice }] })}\n\n`,
  );
  const raw = chunks.join('').replaceAll('{\\"what\\":\\"it\\"}', `{\\"what\\":\\"${token}\\"}`);
  return ends ? { raw: `${raw}data: [DONE]\n\n` } : { raw, hangAtByte: Buffer.byteLength(raw) };
}
