import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { anonymousRefusal } from '../../fixtures/upstreams/stand-in.ts';

/** A reply in place of vectors or scores. */
export interface Fault {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly message?: string;
}

export interface EmbeddingRequest {
  readonly model: string;
  readonly input: readonly string[];
  readonly dimensions?: number;
}
export interface RerankRequest {
  readonly model?: string;
  readonly query: string;
  readonly documents: readonly string[];
  readonly top_n: number;
}

/** A real server with `/v1/embeddings` and `/rerank`. Words that mean the same have the same place in its vectors. */
export interface MeaningServer {
  /** Base of an OpenAI-compatible provider. */
  readonly url: string;
  readonly rerankUrl: string;
  readonly embeddings: EmbeddingRequest[];
  readonly reranks: RerankRequest[];
  readonly authorizations: (string | undefined)[];
  /** Dimensions of the vectors, unless a request asks for a number. */
  dimensions: number;
  /** Answers the next requests for vectors, one each. */
  readonly faults: Fault[];
  /** Answers every request for vectors, while set; `hang`: never. */
  down: Fault | 'hang' | undefined;
  rerankDown: Fault | 'hang' | undefined;
  /** Refuses texts with this word, alone or in a batch, with 400. */
  refusedWord: string | undefined;
  /** Requests for vectors wait until this resolves. */
  gate: Promise<unknown> | undefined;
  close(): Promise<void>;
}

/** Each group is one meaning. */
const meanings = [
  ['zeppelin', 'airship', 'blimp'],
  ['physician', 'doctor', 'medic'],
  ['purchase', 'buy', 'acquire'],
];

export async function startMeaningServer(): Promise<MeaningServer> {
  const embeddings: EmbeddingRequest[] = [];
  const reranks: RerankRequest[] = [];
  const authorizations: (string | undefined)[] = [];
  const faults: Fault[] = [];

  async function embed(body: EmbeddingRequest, res: ServerResponse): Promise<void> {
    embeddings.push(body);
    await state.gate;
    const fault = faults.shift() ?? state.down;
    if (fault === 'hang') return;
    if (fault !== undefined) return refuse(res, fault);
    const { refusedWord } = state;
    if (refusedWord !== undefined && body.input.some((text) => text.includes(refusedWord))) {
      return refuse(res, { status: 400, message: 'input is invalid' });
    }
    const dimensions = body.dimensions ?? state.dimensions;
    const data = body.input.map((text, index) => ({ object: 'embedding', index, embedding: vectorOf(text, dimensions) }));
    const tokens = body.input.reduce((sum, text) => sum + wordsOf(text).length, 0);
    answer(res, 200, { object: 'list', model: body.model, data, usage: { prompt_tokens: tokens, total_tokens: tokens } });
  }

  function rerank(body: RerankRequest, res: ServerResponse): void {
    reranks.push(body);
    if (state.rerankDown === 'hang') return;
    if (state.rerankDown !== undefined) {
      refuse(res, state.rerankDown);
      return;
    }
    const scores = body.documents.map((text, index) => ({ index, relevance_score: text.includes('exactly') ? 0.9 : 0.1 }));
    answer(res, 200, { results: scores.toSorted((a, b) => b.relevance_score - a.relevance_score) });
  }

  const server = createServer((req, res) => {
    void readBody(req).then((text) => {
      if (req.url === '/v1/models') return answer(res, 200, { object: 'list', data: [] });
      if (anonymousRefusal(req) !== undefined) return refuse(res, { status: 403 });
      authorizations.push(req.headers.authorization);
      const body: unknown = JSON.parse(text);
      if (req.url === '/v1/embeddings') return embed(body as EmbeddingRequest, res);
      rerank(body as RerankRequest, res);
      return undefined;
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const state: MeaningServer = {
    url: `${origin}/v1`,
    rerankUrl: `${origin}/rerank`,
    ...{ embeddings, reranks, authorizations, faults },
    dimensions: 64,
    down: undefined,
    rerankDown: undefined,
    refusedWord: undefined,
    gate: undefined,
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
  return state;
}

function vectorOf(text: string, dimensions: number): readonly number[] {
  const vector = Array.from({ length: dimensions }, () => 0);
  for (const word of wordsOf(text)) {
    const group = meanings.findIndex((words) => words.includes(word));
    // Words without a meaning of their own count little, so that meanings decide.
    if (group >= 0) vector[group] = (vector[group] ?? 0) + 1;
    else vector[meanings.length + (hashOf(word) % (dimensions - meanings.length))] = 0.05;
  }
  return vector;
}

function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(/\p{L}+/gu) ?? [];
}

function hashOf(word: string): number {
  return [...word].reduce((hash, letter) => (hash * 31 + letter.charCodeAt(0)) % 1_000_003, 7);
}

async function readBody(req: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

function refuse(res: ServerResponse, { status, headers, message = 'the stand-in refuses' }: Fault): void {
  for (const [name, value] of Object.entries(headers ?? {})) res.setHeader(name, value);
  answer(res, status, { error: { message, type: 'stand_in' } });
}

function answer(res: ServerResponse, status: number, body: unknown): void {
  res.writeHead(status, { 'content-type': 'application/json' });
  res.end(JSON.stringify(body));
}
