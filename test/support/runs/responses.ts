import { beforeEach, expect } from 'vitest';
import { WebSocket } from 'ws';
import type { Reply, SseFrame, TestClient } from '../client.ts';
import type { Person } from '../make.ts';
import { eventually } from '../processes/eventually.ts';
import { type TestBench, type TestService, withService } from '../service.ts';
import { never, type Upstream, type UpstreamScript } from '../upstream.ts';
import { response, streamingEvent } from './response-schemas.ts';
import { eventsOf, type WireEvent, walk } from './response-walk.ts';

type Members = Readonly<Record<string, unknown>>;

export const responsesPath = '/api/v2/responses';
export const testModel = 'openai/test-model';
export const addTool = { type: 'function', name: 'add', parameters: { type: 'object' } };
export const addCall = { id: 'call_1', name: 'add', arguments: '{"a":1,"b":2}' };

/** A service with a scripted model for the tests of one file, and two people. The default answer is `It is 3.` in three pieces. */
export class ResponsesBench {
  readonly upstream: Upstream;
  readonly service: TestService;
  readonly make: TestBench['make'];
  readonly ann: Person;
  readonly bob: Person;

  constructor({ upstream, service, make }: TestBench, ann: Person, bob: Person) {
    this.upstream = upstream;
    this.service = service;
    this.make = make;
    this.ann = ann;
    this.bob = bob;
  }

  /** The last request to the model. */
  get asked(): WireEvent {
    return this.upstream.requests.at(-1)?.body;
  }

  create(members: Members = {}, who = this.ann): Promise<Reply> {
    return who.post(responsesPath, { model: testModel, input: 'Hi', ...members });
  }

  /** Sends a request and checks that the response is well-formed, whatever its status. */
  async created(members: Members = {}): Promise<WireEvent> {
    const { status, body } = await this.create(members);
    if (status !== 200) throw new Error(`refused: ${JSON.stringify(body)}`);
    return response.parse(body);
  }

  get(id: string, query = ''): Promise<Reply> {
    return this.ann.get(`${responsesPath}/${id}${query}`);
  }

  frames(members: Members = {}): Promise<readonly SseFrame[]> {
    return this.ann.stream(responsesPath, { model: testModel, input: 'Hi', ...members, stream: true });
  }

  /** Sends a streaming request, and checks every event against its schema and its position. */
  async events(members: Members = {}): Promise<readonly WireEvent[]> {
    const events = eventsOf(await this.frames(members)).map((event) => streamingEvent.parse(event));
    walk(events);
    return events;
  }

  inputItems(id: string, query = ''): Promise<Reply> {
    return this.get(id, `/input_items${query}`);
  }

  socket(key = this.ann.key): Promise<ResponseSocket> {
    return ResponseSocket.connect(this.service.url, key);
  }
}

/** @param env  settings that differ from the profile's: the service then belongs to the file. */
export async function responsesBench(env?: Readonly<Record<string, string>>): Promise<ResponsesBench> {
  const bench = await withService('model', env === undefined ? undefined : { env });
  beforeEach(() => bench.upstream.otherwise({ text: ['It ', 'is ', '3.'] }));
  return new ResponsesBench(bench, await bench.make.person(), await bench.make.person());
}

/** A WebSocket connection that collects events, request by request. */
export class ResponseSocket {
  readonly socket: WebSocket;
  /** The received messages, one event each. */
  readonly messages: string[] = [];
  #taken = 0;
  #wake: () => void = () => undefined;

  static async connect(url: string, key: string): Promise<ResponseSocket> {
    const headers = { authorization: `Bearer ${key}` };
    const socket = new WebSocket(`${url.replace('http', 'ws')}${responsesPath}`, { headers });
    const opened = new ResponseSocket(socket);
    await new Promise((resolve, reject) => socket.on('open', resolve).on('error', reject));
    return opened;
  }

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('message', (data) => {
      this.messages.push(String(data));
      this.#wake();
    });
  }

  send(members: Members): void {
    this.socket.send(JSON.stringify({ type: 'response.create', model: testModel, ...members }));
  }

  /** The events up to the next one that ends a request. */
  async ended(): Promise<readonly WireEvent[]> {
    for (;;) {
      const events: WireEvent[] = this.messages.slice(this.#taken).map((text) => JSON.parse(text));
      const last = events.findIndex(({ type }) => /^(error|response\.(completed|failed|incomplete))$/.test(type));
      if (last !== -1) {
        this.#taken += last + 1;
        return events.slice(0, last + 1);
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  ask(members: Members): Promise<readonly WireEvent[]> {
    this.send(members);
    return this.ended();
  }

  /** Sends a request and checks every event against its schema. @returns the response of the last event. */
  async answered(members: Members): Promise<WireEvent> {
    const events = await this.ask(members);
    return walk(events.map((event) => streamingEvent.parse(event)));
  }

  close(): void {
    this.socket.close();
  }
}

/** One piece of text and no end, so that a test can act in the middle. */
export const endlessAnswer: UpstreamScript = { text: ['w0 ', 'w1 '], restGate: never };

/** No answer at all, until the request is given up. */
export const noAnswer: UpstreamScript = { gate: never };

/** A response that runs in the background, once it is over. */
export function endedResponse(person: TestClient, id: string): Promise<WireEvent> {
  return eventually(async () => {
    const { body } = await person.get(`${responsesPath}/${id}`);
    expect(body.status).not.toBe('in_progress');
    return body;
  });
}
