import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  createExtractor,
  type ExtractedDocument,
  type ExtractLimits,
  type Extractor,
} from '../../../src/engine/knowledge/extract/extract.ts';
import { type DocumentFolder, documentFolder, extractLimits } from '../../support/knowledge/documents.ts';
import { timed } from '../../support/processes/clock.ts';
import { eventually } from '../../support/processes/eventually.ts';

const misbehaving = new URL('../../support/knowledge/misbehaving-reader.ts', import.meta.url);
let folder: DocumentFolder;
let extractor: Extractor;
beforeAll(async () => {
  folder = await documentFolder();
});
afterEach(async () => {
  await extractor.close();
});
afterAll(async () => {
  await folder.remove();
});

async function extract(
  order: string,
  limits: Partial<ExtractLimits> = {},
  signal = AbortSignal.timeout(60_000),
): Promise<ExtractedDocument> {
  const source = await folder.put(`${folder.path}/1.bin`, order);
  return extractor.extract(source, { ...extractLimits, ...limits }, signal);
}

async function pid(): Promise<number> {
  return Number((await extract('pid')).text);
}

function isRunning(id: number): boolean {
  try {
    process.kill(id, 0);
    return true;
  } catch {
    return false;
  }
}

describe('a document that misbehaves', () => {
  it.each(['loop', 'never'])('is stopped in time (%s), and the next one is read', async (order) => {
    extractor = createExtractor({ entry: misbehaving });
    const first = await pid();
    // A busy machine may give the reader too little processor time to be blamed: then once more.
    await eventually(async () => {
      const { elapsedMs } = await timed(() =>
        expect(extract(order, { timeoutMs: 300 })).rejects.toMatchObject({
          name: 'ExtractError',
          code: 'TIMEOUT',
          isRetryable: false,
        }),
      );
      expect(elapsedMs).toBeLessThan(3_000);
    });
    expect((await extract('Hello.')).text).toBe('Hello.');
    await eventually(() => expect(isRunning(first)).toBe(false));
  });
  it('is stopped when it has used its own processor time, and that is said', async () => {
    extractor = createExtractor({ entry: misbehaving });
    await eventually(() =>
      expect(extract('loop', { timeoutMs: 500 })).rejects.toMatchObject({
        code: 'TIMEOUT',
        message: expect.stringContaining('took more than 0.5 seconds of processor time'),
      }),
    );
    await eventually(() =>
      expect(extract('never', { timeoutMs: 500 })).rejects.toMatchObject({
        code: 'TIMEOUT',
        message: expect.stringContaining('came to no end in 2 seconds'),
      }),
    );
  });
  it.each(['grow-buffers', 'grow-heap'])(
    'is stopped when it takes too much memory (%s), and the next one is read',
    async (order) => {
      extractor = createExtractor({ entry: misbehaving });
      await expect(extract(order, { memoryMaxBytes: 100 * 1024 * 1024 })).rejects.toMatchObject({
        code: 'MEMORY',
        isRetryable: false,
      });
      expect((await extract('Hello.')).text).toBe('Hello.');
    },
  );
  it('that ends its process twice is not read a third time', async () => {
    extractor = createExtractor({ entry: misbehaving });
    await expect(extract('exit')).rejects.toMatchObject({ code: 'CRASHED', isRetryable: false });
    expect((await extract('Hello.')).text).toBe('Hello.');
  });
  it.each(['SOMETHING', '{}'])('that is said to leave out something unknown (%s) is not believed', async (kind) => {
    extractor = createExtractor({ entry: misbehaving });
    await expect(extract(`omit ${kind}`)).rejects.toMatchObject({ code: 'CRASHED' });
    expect((await extract('omit CHARTS')).omissions).toEqual([{ kind: 'CHARTS', count: 1, total: null }]);
  });
  it('finds no secrets, no files, no network and no way out in its process', async () => {
    process.env.PARLEY_TEST_CANARY = 'canary-2b7e';
    extractor = createExtractor({ entry: misbehaving });
    expect((await extract('environment')).text).not.toContain('canary-2b7e');
    delete process.env.PARLEY_TEST_CANARY;
    for (const what of ['read', 'write', 'spawn', 'connect', 'fetch', 'eval']) {
      expect([what, (await extract(`try ${what}`)).text]).toEqual([what, expect.stringMatching(/^stopped: /)]);
    }
  });
});

describe.skipIf(process.platform !== 'linux')('a document whose reader gets no processor', () => {
  it('is read to its end, although the clock went on', async () => {
    extractor = createExtractor({ entry: misbehaving });
    const id = await pid();
    const startedMs = performance.now();
    const reading = extract('work 400', { timeoutMs: 5_000 });
    process.kill(id, 'SIGSTOP');
    await eventually(() => expect(performance.now() - startedMs).toBeGreaterThan(6_000));
    process.kill(id, 'SIGCONT');
    expect((await reading).text).toBe('It is done.');
  });
  it('is not blamed when it comes to no end: it may be read later', async () => {
    extractor = createExtractor({ entry: misbehaving });
    const id = await pid();
    const reading = extract('work 400', { timeoutMs: 300 });
    process.kill(id, 'SIGSTOP');
    await expect(reading).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      isRetryable: true,
      message: 'The machine was too busy to read the file in 1.2 seconds; try again later.',
    });
    await eventually(() => expect(isRunning(id)).toBe(false));
    expect((await extract('work 0')).text).toBe('It is done.');
  });
});

describe('the processes', () => {
  it('are used again, and replaced after their share of documents', async () => {
    extractor = createExtractor({ documentsPerProcess: 2, smallDocumentsPerProcess: 6, entry: misbehaving });
    const large = `large ${' '.repeat(20_000)}`;
    const ids = [await pid(), await pid(), await pid()];
    // Three small ones are half of its share, a large one is the other half.
    await extract(large);
    ids.push(await pid());
    await extract(large);
    await extract(large);
    ids.push(await pid());
    expect(new Set(ids.slice(0, 3)).size).toBe(1);
    expect(ids[3]).not.toBe(ids[2]);
    expect(ids[4]).not.toBe(ids[3]);
    await eventually(() => expect(isRunning(ids[0] ?? 0)).toBe(false));
  });
  it('end when there is nothing to do', async () => {
    extractor = createExtractor({ idleMs: 50, entry: misbehaving });
    const id = await pid();
    await eventually(() => expect(isRunning(id)).toBe(false));
  });
  it('end when the service is killed, whatever they are stuck in', async () => {
    extractor = createExtractor();
    const program = fileURLToPath(new URL('../../support/knowledge/abandoned-extraction.ts', import.meta.url));
    const documents = [await folder.put('a.txt', 'pid'), await folder.put('a.txt', 'loop')];
    const service = spawn(process.execPath, [program, ...documents.map(({ path }) => path)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [output] = (await once(service.stdout, 'data')) as [Buffer];
    const id = Number(output.toString());
    expect(isRunning(id)).toBe(true);
    service.kill('SIGKILL');
    await eventually(() => expect(isRunning(id)).toBe(false));
  });
  it('end with the extractor, and so do calls under way', async () => {
    extractor = createExtractor({ entry: misbehaving });
    const id = await pid();
    const calls = [extract('never'), extract('Hello.')];
    const settled = Promise.allSettled(calls);
    await extractor.close();
    expect((await settled).map((call) => call.status === 'rejected' && (call.reason as Error).name)).toEqual([
      'AbortError',
      'AbortError',
    ]);
    await eventually(() => expect(isRunning(id)).toBe(false));
    await expect(extract('Hello.')).rejects.toMatchObject({ name: 'AbortError' });
  });
});

describe('a caller', () => {
  it('that gives up in mid-document frees its place at once', async () => {
    extractor = createExtractor({ entry: misbehaving });
    const id = await pid();
    const controller = new AbortController();
    const call = extract('loop', {}, controller.signal);
    await expect(Promise.race([call, new Promise((resolve) => setTimeout(resolve, 50, 'still reading'))])).resolves.toBe(
      'still reading',
    );
    controller.abort(new Error('the user left'));
    await expect(call).rejects.toThrow('the user left');
    await eventually(() => expect(isRunning(id)).toBe(false));
    expect((await extract('Hello.')).text).toBe('Hello.');
  });
  it('gets its own text back, six at a time', async () => {
    extractor = createExtractor();
    const texts = Array.from(
      { length: 6 },
      (_, index) => `# Document ${index}\n\n${`Sentence ${index}. `.repeat(index * 250 + 1).trim()}`,
    );
    const documents = await Promise.all(
      texts.map(async (text, index) =>
        extractor.extract(await folder.put(`${index}.md`, text), extractLimits, AbortSignal.timeout(60_000)),
      ),
    );
    expect(documents.map(({ text }) => text)).toEqual(texts);
    expect(documents.map(({ title }) => title)).toEqual(texts.map((_, index) => `Document ${index}`));
  });
  it('asking for a file that is not there learns so', async () => {
    extractor = createExtractor();
    const source = { path: `${folder.path}/missing.bin`, filename: 'missing.md', mimeType: '' };
    await expect(extractor.extract(source, extractLimits, AbortSignal.timeout(60_000))).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
