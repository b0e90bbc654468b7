import { beforeEach } from 'vitest';
import { WebSocket } from 'ws';
import type { Reply, SseFrame } from '../client.ts';
import type { Person } from '../make.ts';
import { type TestBench, type TestService, withService } from '../service.ts';
import { never, type Upstream, type UpstreamScript } from '../upstream.ts';
import { response, streamingEvent } from './response-schemas.ts';
import { eventsOf, type WireEvent, walk } from './response-walk.ts';

type Members = Readonly<Record<string, unknown>>;

export const responsesPath = '/api/v2/responses';
export const testModel = 'openai/test-model';
export const addTool = { type: 'function', name: 'add', parameters: { type: 'object' } };
export const addCall = { id: 'call_1', name: 'add', arguments: '{"a":1,"b":2}' };

/**
 * A service in front of a scripted model for the tests of one file, with two people. The model says `It is 3.` in three pieces where a test
 * says nothing else.
 */
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

  /** What the model was asked last. */
  get asked(): WireEvent {
    return this.upstream.requests.at(-1)?.body;
  }

  create(members: Members = {}, who = this.ann): Promise<Reply> {
    return who.post(responsesPath, { model: testModel, input: 'Hi', ...members });
  }

  /** A response that must be well-formed, whatever became of it. */
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

  /** The events of a stream, every one held against its schema and its place. */
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

/** @param env  settings that differ from the profile's: the service is then the file's own. */
export async function responsesBench(env?: Readonly<Record<string, string>>): Promise<ResponsesBench> {
  const bench = await withService('model', env === undefined ? undefined : { env });
  beforeEach(() => bench.upstream.otherwise({ text: ['It ', 'is ', '3.'] }));
  return new ResponsesBench(bench, await bench.make.person(), await bench.make.person());
}

/** A connection of the responses path that gathers what it is told, request by request. */
export class ResponseSocket {
  readonly socket: WebSocket;
  /** Messages as they came, one event each. */
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

  /** Asks and holds every event against its schema. @returns the response of the last one. */
  async answered(members: Members): Promise<WireEvent> {
    const events = await this.ask(members);
    return walk(events.map((event) => streamingEvent.parse(event)));
  }

  close(): void {
    this.socket.close();
  }
}

/** One piece of text and no end, to be caught in the middle of. */
export const endlessAnswer: UpstreamScript = { text: ['w0 ', 'w1 '], restGate: never };

/** No answer at all, until the request is given up. */
export const noAnswer: UpstreamScript = { gate: never };
