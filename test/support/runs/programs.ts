import { type ProgramLimits, type ProgramOutcome, runProgram } from '../../../src/engine/tools/code/box/program.ts';
import type { Box } from '../../../src/engine/tools/code/box/run-in-box.ts';
import { type CodeDeps, createCodeKinds } from '../../../src/engine/tools/code/code-kinds.ts';
import type { NewRunFile, RunFile } from '../../../src/engine/tools/run-files.ts';
import type { CallPass, ToolResult } from '../../../src/engine/tools/server-tool.ts';
import type { ToolRun } from '../../../src/engine/tools/tool-kind.ts';
import { testPools } from '../sharing/pools.ts';
import { freePass } from './runs.ts';

const mebibyte = 1024 * 1024;

export const programLimits: ProgramLimits = {
  timeoutMs: 60_000,
  memoryMaxBytes: 512 * mebibyte,
  filesMaxBytes: 16 * mebibyte,
  filesMax: 20,
  fileMaxBytes: 5 * mebibyte,
  stateMaxBytes: 2 * mebibyte,
};

/** Runs one Python program in the box, with no files. */
export function runAlone(box: Box, source: string, limits: Partial<ProgramLimits> = {}): Promise<ProgramOutcome> {
  const nothing = { files: [], variables: Buffer.alloc(0), environment: {}, folder: '/workspace' };
  return runProgram(box, { kind: 'python', source, ...nothing }, { ...programLimits, ...limits }, new AbortController().signal);
}

/** The files of a stateless run, in memory; `saved` are those that tools made. */
export class MemoryFiles {
  readonly saved: NewRunFile[] = [];
  readonly #files = new Map<string, NewRunFile & { readonly madeBy: string | null }>();

  constructor(given: readonly NewRunFile[] = []) {
    for (const file of given) this.#files.set(file.filename, { ...file, madeBy: null });
  }

  async list(): Promise<readonly RunFile[]> {
    return Array.from(this.#files.values(), ({ filename, mimeType, bytes, madeBy }) => ({
      ...{ id: filename, filename, mimeType, sizeBytes: bytes.length, madeBy },
    }));
  }

  async read({ id }: RunFile): Promise<Buffer> {
    return this.#files.get(id)?.bytes ?? Buffer.alloc(0);
  }

  async save(file: NewRunFile, key: string) {
    const filename = this.#files.has(file.filename) ? `new ${file.filename}` : file.filename;
    return this.#keep({ ...file, filename }, key);
  }

  async replace({ id, mimeType, madeBy }: RunFile, bytes: Buffer, key: string) {
    const filename = madeBy === null ? `new ${id}` : id;
    return this.#keep({ filename, mimeType, bytes }, key);
  }

  #keep(file: NewRunFile, madeBy: string) {
    const { filename, mimeType, bytes } = file;
    this.saved.push(file);
    this.#files.set(filename, { ...file, madeBy });
    return { fileId: null, filename, mimeType, sizeBytes: bytes.length, url: '' };
  }
}

/** Tools opened for one stateless run. */
export function runOf(files: MemoryFiles): ToolRun {
  const plan = { charge: { orgId: 'org', userId: null, agentId: null } };
  return { runId: 'run', chatId: null, plan, secrets: {}, files } as unknown as ToolRun;
}

/** The functions `python` and `shell` (the simulated one) of one run; each call has a key of its own. */
export function programsOf(
  box: Box | undefined,
  files = new MemoryFiles(),
  limits: Partial<ProgramLimits> = {},
  more: Partial<CodeDeps> = {},
) {
  const deps = {
    limits: { ...programLimits, ...limits },
    programs: testPools().queue('python', 2),
    resultCharsMax: 20_000,
    ttlMs: 1,
  };
  const kinds = createCodeKinds(
    { ...deps, ...more } as CodeDeps,
    async () => box,
    async () => undefined,
  );
  const run = runOf(files);
  const tools = kinds.map(async (kind) => (await kind.open({ type: kind.type, options: {} }, run)).functions[0]);
  let calls = 0;
  const call = async (
    index: number,
    args: object,
    pass?: CallPass,
    signal = new AbortController().signal,
  ): Promise<ToolResult> => {
    calls += 1;
    const result = await (await tools[index])?.run(
      JSON.stringify(args),
      {},
      signal,
      () => undefined,
      pass ?? { ...freePass, key: `call_${calls}` },
    );
    return result as ToolResult;
  };
  return {
    files,
    kinds,
    tools,
    python: (code: string, pass?: CallPass, signal?: AbortSignal) => call(0, { code }, pass, signal),
    shell: (command: string, pass?: CallPass) => call(1, { command }, pass),
  };
}
