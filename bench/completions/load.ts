import { Pool } from 'undici';

/** A server that answers completions: the service, the baseline, or the upstream itself. */
export interface Target {
  readonly name: string;
  readonly url: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Sink {
  onData?(chunk: Buffer): void;
}

/** One request; resolves at the end of its reply. @throws on anything but a 200. */
export function send(pool: Pool, target: Target, sink: Sink = {}): Promise<void> {
  return new Promise((resolve, reject) => {
    let status = 0;
    let refused = '';
    pool.dispatch(
      { path: target.path, method: 'POST', headers: { ...target.headers }, body: target.body },
      {
        onRequestStart() {},
        onResponseStart(_controller, statusCode) {
          status = statusCode;
        },
        onResponseData(_controller, chunk) {
          if (status === 200) sink.onData?.(chunk);
          else refused += chunk.toString();
        },
        onResponseEnd() {
          if (status === 200) resolve();
          else reject(new Error(`${target.name} answered ${status} ${refused}`));
        },
        onResponseError(_controller, error) {
          reject(error);
        },
      },
    );
  });
}

/** Keeps `connections` requests in flight for a while; returns the number of finished requests a second. */
export async function throughput(target: Target, connections: number, durationMs: number): Promise<number> {
  const pool = new Pool(target.url, { connections, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 });
  const startedMs = performance.now();
  let ended = 0;
  const worker = async () => {
    while (performance.now() - startedMs < durationMs) {
      await send(pool, target);
      ended += 1;
    }
  };
  await Promise.all(Array.from({ length: connections }, worker));
  const seconds = (performance.now() - startedMs) / 1000;
  await pool.close();
  return ended / seconds;
}

/** Milliseconds from the request to the first text, for each of several requests one after the other. */
export async function firstTokens(target: Target, pool: Pool, count: number): Promise<number[]> {
  const times: number[] = [];
  for (let turn = 0; turn < count; turn += 1) {
    const startedMs = performance.now();
    let firstMs: number | undefined;
    await send(pool, target, {
      onData(chunk) {
        if (firstMs === undefined && chunk.includes('word')) firstMs = performance.now() - startedMs;
      },
    });
    if (firstMs !== undefined) times.push(firstMs);
  }
  return times;
}

export interface PacedResult {
  readonly chunks: number;
  readonly errors: number;
  /** From the upstream's write to the client's read, in ms, sorted. */
  readonly delaysMs: readonly number[];
}

/** Opens many paced streams at once, and reads them to their ends or disconnects after `leaveAfterMs`. */
export async function paced(target: Target, streams: number, leaveAfterMs?: number): Promise<PacedResult> {
  const pool = new Pool(target.url, { connections: streams, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 });
  const delaysMs: number[] = [];
  let chunks = 0;
  let errors = 0;
  const onData = (chunk: Buffer) => {
    const nowMicros = (performance.timeOrigin + performance.now()) * 1000;
    for (const [, micros] of chunk.toString('latin1').matchAll(/"(?:content|delta|text)":"(\d{16})"/g)) {
      chunks += 1;
      delaysMs.push((nowMicros - Number(micros)) / 1000);
    }
  };
  const reading = Promise.all(
    Array.from({ length: streams }, () =>
      send(pool, target, { onData }).catch(() => {
        errors += 1;
      }),
    ),
  );
  if (leaveAfterMs === undefined) {
    await reading;
    await pool.close();
    return { chunks, errors, delaysMs: delaysMs.sort((a, b) => a - b) };
  }
  await new Promise((resolve) => setTimeout(resolve, leaveAfterMs));
  const result = { chunks, errors, delaysMs: [...delaysMs].sort((a, b) => a - b) };
  await pool.destroy();
  await reading;
  return result;
}

export function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
