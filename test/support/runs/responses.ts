import { afterAll, beforeAll, beforeEach } from 'vitest';
import { WebSocket } from 'ws';
import type { Reply, SseFrame } from '../client.ts';
import { makeFor, type Person } from '../make.ts';
import { startService, type TestService } from '../service.ts';
import { never, startUpstream, type Upstream, type UpstreamScript } from '../upstream.ts';
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
  readonly #env: Readonly<Record<string, string>>;
  upstream!: Upstream;
  service!: TestService;
  make!: ReturnType<typeof makeFor>;
  ann!: Person;
  bob!: Person;

  constructor(env: Readonly<Record<string, string>> = {}) {
    this.#env = env;
  }

  async open(): Promise<void> {
    this.upstream = await startUpstream();
    const env = { OPENAI_BASE_URL: this.upstream.url, MODEL_RETRIES_MAX: '0', LOG_LEVEL: 'fatal', ...this.#env };
    this.service = await startService({ env });
    this.make = makeFor(this.service);
    this.ann = await this.make.person();
    this.bob = await this.make.person();
  }

  reset(): void {
    this.upstream.reset();
    this.upstream.otherwise({ text: ['It ', 'is ', '3.'] });
  }

  async close(): Promise<void> {
    await this.service.close();
    await this.upstream.close();
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

/** Opens and closes the bench with the file's tests, and forgets the model's script before each. */
export function responsesBench(env: Readonly<Record<string, string>> = {}): ResponsesBench {
  const bench = new ResponsesBench(env);
  beforeAll(() => bench.open());
  beforeEach(() => bench.reset());
  afterAll(() => bench.close());
  return bench;
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
