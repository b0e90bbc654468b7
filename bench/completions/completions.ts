import { setTimeout as wait } from 'node:timers/promises';
import { Pool } from 'undici';
import { firstTokens, paced, quantile, type Target, throughput } from './load.ts';
import { type Child, cores, pin, start, untilIdle } from './processes.ts';

interface Ready {
  readonly url: string;
}
interface ServiceReady extends Ready {
  readonly adminKey: string;
  readonly agents: Readonly<Record<string, string>>;
}
interface Cpu {
  readonly cpuMicros: number;
  readonly rssBytes: number;
}

/** One measured promise: the baseline's figure, Parley's figure, and the floor for their ratio. */
export interface Row {
  readonly name: string;
  readonly raw: number;
  readonly ours: number;
  readonly unit: string;
  readonly floor: { readonly ratioMin: number } | { readonly ratioMax: number } | undefined;
  readonly note?: string;
}

export interface CompletionBenchOptions {
  /** Rows whose name includes this; all when empty. */
  readonly only: string;
  /** Open streams in the row `many open streams`, which the client abandons. */
  readonly streams: number;
  /** Writes CPU profiles of the service into this folder. */
  readonly profileDir?: string;
}

const burstChunks = 2_000;
const passes = 3;
/** V8 compiles the code of the service and of the baseline in this time. */
const warmUpMs = 10_000;
const firstTokenTurns = 40;

/** Measures the promises about completions and streams, Parley and the baseline in turns in the same run. */
export async function benchCompletions(options: CompletionBenchOptions): Promise<readonly Row[]> {
  pin(process.pid, cores.load);
  const upstream = await start<Ready>('upstream.ts', [], cores.load);
  const raw = await start<Ready>('raw.ts', [upstream.ready.url], cores.service);
  const profile = options.profileDir === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${options.profileDir}`];
  const service = await start<ServiceReady>('service.ts', [upstream.ready.url], cores.service, profile);
  try {
    await untilIdle(service);
    return await new Bench(upstream, raw, service, options).run();
  } finally {
    await Promise.all([upstream, raw, service].map((child) => child.stop()));
  }
}

class Bench {
  readonly #upstream: Child<Ready>;
  readonly #raw: Child<Ready>;
  readonly #service: Child<ServiceReady>;
  readonly #options: CompletionBenchOptions;

  constructor(upstream: Child<Ready>, raw: Child<Ready>, service: Child<ServiceReady>, options: CompletionBenchOptions) {
    this.#upstream = upstream;
    this.#raw = raw;
    this.#service = service;
    this.#options = options;
  }

  async run(): Promise<readonly Row[]> {
    const rows: Row[] = [];
    const measure = async (name: string, work: (name: string) => Promise<readonly Row[]>) => {
      if (name.includes(this.#options.only)) rows.push(...(await work(name)));
    };
    await measure('non-stream, 64 connections', (name) => this.#throughput(name));
    await measure('first token added, p50', (name) => this.#firstToken(name));
    await measure('chunks in one piece, model', (name) => this.#bursts(name, 'openai/burst-2000', { ratioMin: 0.25 }));
    await measure('chunks in one piece, agent', (name) =>
      this.#bursts(name, this.#service.ready.agents['burst-2000'] ?? '', { ratioMin: 0.25 }),
    );
    await measure('paced CPU a chunk', (name) => this.#pacedCpu(name));
    await measure('Messages beside completions', (name) => this.#messages(name));
    await measure('many open streams', (name) => this.#manyStreams(name));
    await measure('5,000 open streams', (name) => this.#wholeStreams(name));
    return rows;
  }

  async #throughput(name: string): Promise<readonly Row[]> {
    const [raw, ours] = await this.#interleaved('whole', false, (target) => throughput(target, 64, 1_500));
    return [{ name, raw, ours, unit: 'requests/s', floor: { ratioMin: 0.25 } }];
  }

  /** The least of the medians of several turns, after a warm-up: noise of a shared machine only lengthens a time. */
  async #firstToken(name: string): Promise<readonly Row[]> {
    const targets = [this.#direct('burst-1'), this.#throughRaw('burst-1'), this.#throughService('openai/burst-1')];
    const [direct = 0, raw = 0, ours = 0] = await this.#leastFirstTokens(targets);
    return [{ name, raw: raw - direct, ours: ours - direct, unit: 'µs', floor: { ratioMax: 2 } }];
  }

  async #leastFirstTokens(targets: readonly Target[]): Promise<readonly number[]> {
    const medians: number[][] = targets.map(() => []);
    const pools = targets.map((target) => new Pool(target.url, { connections: 1 }));
    const warmAtMs = performance.now() + warmUpMs;
    for (let turn = 0; turn < firstTokenTurns; ) {
      const isWarm = performance.now() >= warmAtMs;
      for (const [index, target] of targets.entries()) {
        const pool = pools[index];
        if (pool === undefined) continue;
        const times = await firstTokens(target, pool, 60);
        times.sort((one, other) => one - other);
        if (isWarm) medians[index]?.push(quantile(times, 0.5));
      }
      if (isWarm) turn += 1;
    }
    await Promise.all(pools.map((pool) => pool.close()));
    return medians.map((all) => Math.min(...all) * 1000);
  }

  async #bursts(name: string, model: string, floor: Row['floor']): Promise<readonly Row[]> {
    const [raw, ours] = await this.#interleaved(`burst-${burstChunks}`, true, (target) => throughput(target, 8, 1_500), model);
    return [{ name, raw: raw * burstChunks, ours: ours * burstChunks, unit: 'chunks/s', floor }];
  }

  async #pacedCpu(name: string): Promise<readonly Row[]> {
    const model = 'paced-100-20';
    const cost = async (child: Child<unknown>, target: Target) => {
      const before = await child.ask<Cpu>('cpu');
      const { chunks } = await paced(target, 200);
      const after = await child.ask<Cpu>('cpu');
      return (after.cpuMicros - before.cpuMicros) / chunks;
    };
    const targets = [
      [this.#raw, this.#throughRaw(model)],
      [this.#service, this.#throughService(`openai/${model}`)],
      [this.#service, this.#throughGraphql(`openai/${model}`)],
    ] as const;
    const best = targets.map(() => Number.POSITIVE_INFINITY);
    for (let pass = 0; pass <= passes; pass += 1) {
      for (const [index, [child, target]] of targets.entries()) {
        const micros = await cost(child, target);
        // The first pass compiles the code that it runs, once in the life of a process.
        if (pass > 0) best[index] = Math.min(best[index] ?? Number.POSITIVE_INFINITY, micros);
      }
    }
    const [raw = 0, rest = 0, graphql = 0] = best;
    return [
      { name: `${name}, REST`, raw, ours: rest, unit: 'µs', floor: { ratioMax: 1.6 } },
      { name: `${name}, GraphQL subscription`, raw, ours: graphql, unit: 'µs', floor: { ratioMax: 2.5 } },
    ];
  }

  /** A stream of the Messages format against one of completions, of the same service in turns. */
  async #messages(name: string): Promise<readonly Row[]> {
    const cpu = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    const model = 'openai/paced-100-20';
    for (let pass = 0; pass <= passes; pass += 1) {
      for (const [index, target] of [this.#throughService(model), this.#throughMessages(model)].entries()) {
        const before = await this.#service.ask<Cpu>('cpu');
        const { chunks } = await paced(target, 200);
        const after = await this.#service.ask<Cpu>('cpu');
        const micros = (after.cpuMicros - before.cpuMicros) / chunks;
        if (pass > 0) cpu[index] = Math.min(cpu[index] ?? Number.POSITIVE_INFINITY, micros);
      }
    }
    const targets = [this.#throughService('openai/burst-1'), this.#throughMessages('openai/burst-1')];
    const [completion = 0, message = 0] = await this.#leastFirstTokens(targets);
    const [raw = 0, ours = 0] = cpu;
    const floor = { ratioMax: 1.15 };
    return [
      { name: `${name}, CPU a chunk`, raw, ours, unit: 'µs', floor },
      { name: `${name}, first token p50`, raw: completion, ours: message, unit: 'µs', floor },
    ];
  }

  async #manyStreams(name: string): Promise<readonly Row[]> {
    const { streams } = this.#options;
    const model = 'paced-50-200';
    const one = async (child: Child<unknown>, target: Target) => {
      const before = await child.ask<Cpu>('cpu');
      const reading = paced(target, streams, 10_000);
      await wait(6_000);
      const during = await child.ask<Cpu>('cpu');
      const result = await reading;
      await wait(1_000);
      const { openStreams } = await this.#upstream.ask<{ openStreams: number }>('open');
      const kilobytes = (during.rssBytes - before.rssBytes) / 1024 / streams;
      return { ...result, openStreams, kilobytes, p99: quantile(result.delaysMs, 0.99) };
    };
    const raw = await one(this.#raw, this.#throughRaw(model));
    const ours = await one(this.#service, this.#throughService(`openai/${model}`));
    const note = `${ours.chunks} chunks, ${ours.errors} errors, ${ours.openStreams} left open upstream after 1 s (raw: ${raw.openStreams})`;
    return [
      { name: `${name} (${streams}), p99 delay`, raw: raw.p99, ours: ours.p99, unit: 'ms', floor: undefined, note },
      { name: `${name}, memory a stream`, raw: raw.kilobytes, ours: ours.kilobytes, unit: 'KB', floor: undefined },
    ];
  }

  /** 10,000 chunks a second on 5,000 streams that are read to their ends: the share of chunks that arrive. */
  async #wholeStreams(name: string): Promise<readonly Row[]> {
    const [streams, chunks] = [5_000, 20];
    const one = async (target: Target) => {
      const { chunks: arrived, errors, delaysMs } = await paced(target, streams);
      return { share: (100 * arrived) / (streams * chunks), errors, p99: quantile(delaysMs, 0.99) };
    };
    const raw = await one(this.#throughRaw(`paced-${chunks}-500`));
    const ours = await one(this.#throughService(`openai/paced-${chunks}-500`));
    const note = `${ours.errors} errors (raw: ${raw.errors}); p99 delay ${ours.p99.toFixed(0)} ms (raw: ${raw.p99.toFixed(0)})`;
    return [{ name: `${name}, delivered`, raw: raw.share, ours: ours.share, unit: '%', floor: { ratioMin: 0.99 }, note }];
  }

  /** The best of several passes of each, in turns: noise of a shared machine only lowers a result. */
  async #interleaved(
    rawModel: string,
    stream: boolean,
    run: (target: Target) => Promise<number>,
    model = `openai/${rawModel}`,
  ): Promise<readonly [raw: number, ours: number]> {
    const best = [0, 0] as [number, number];
    for (let pass = 0; pass < passes; pass += 1) {
      best[0] = Math.max(best[0], await run(this.#throughRaw(rawModel, stream)));
      best[1] = Math.max(best[1], await run(this.#throughService(model, stream)));
    }
    return best;
  }

  #direct(model: string): Target {
    return {
      name: 'upstream',
      url: this.#upstream.ready.url,
      path: '/v1/chat/completions',
      headers: json,
      body: request(model, true),
    };
  }

  #throughRaw(model: string, stream = true): Target {
    return { name: 'raw', url: this.#raw.ready.url, path: '/v1/chat/completions', headers: json, body: request(model, stream) };
  }

  #throughService(model: string, stream = true): Target {
    const headers = { ...json, authorization: `Bearer ${this.#service.ready.adminKey}` };
    return {
      name: 'parley',
      url: this.#service.ready.url,
      path: '/api/v1/chat/completions',
      headers,
      body: request(model, stream),
    };
  }

  #throughMessages(model: string): Target {
    const { url, headers } = this.#throughService(model);
    const [system, ...messages] = (JSON.parse(request(model, true)) as { messages: readonly { content: string }[] }).messages;
    const body = JSON.stringify({ model, max_tokens: 1_000, system: system?.content, messages, stream: true });
    return { name: 'parley, Messages', url, path: '/api/v1/messages', headers, body };
  }

  #throughGraphql(model: string): Target {
    const { url, headers } = this.#throughService(model);
    const query =
      'subscription ($input: CompletionInput!) { completionEvents(input: $input) { ... on TextDelta { delta } ... on RunEnded { run { status } } } }';
    const { messages } = JSON.parse(request(model, true)) as { messages: readonly { role: string; content: string }[] };
    const asked = messages.map(({ role, content }) => (role === 'user' ? { user: { text: content } } : { system: content }));
    const input = { model, messages: asked };
    return {
      name: 'parley, GraphQL',
      url,
      path: '/graphql',
      headers: { ...headers, accept: 'text/event-stream' },
      body: JSON.stringify({ query, variables: { input } }),
    };
  }
}

const json = { 'content-type': 'application/json' };

function request(model: string, stream: boolean): string {
  const messages = [
    { role: 'system', content: 'You are a helpful assistant.' },
    { role: 'user', content: 'What is the answer to everything?' },
  ];
  return JSON.stringify({ model, messages, stream });
}
