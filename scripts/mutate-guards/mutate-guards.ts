import { execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { edited, type Guard, guardsOf } from './guards.ts';

/**
 * `npm run mutate:guards`: takes guards out of a copy of the repository, one at a time, and says which of them no test misses.
 *
 * First one run of `npm test` records which test files meet which guard at work. Then each chosen guard is taken out, and those files run until one fails:
 * first with the samples of `npm test`, then with every row of the long tables. What was found is kept in node_modules/.cache/guards: the same words go on
 * where they stopped. A guard that only a process with an empty environment meets is recorded by nobody, and named `not met`.
 */
const { values } = parseArgs({
  options: {
    /** Which guards are chosen. */
    seed: { type: 'string', default: '7' },
    count: { type: 'string', default: '40' },
    /** Records anew which tests meet which guard, after tests have changed; outcomes of before are forgotten. */
    record: { type: 'boolean', default: false },
    workers: { type: 'string', default: '1' },
    /** The longest that the tests of one guard may take, each of the two times. */
    seconds: { type: 'string', default: '240' },
  },
});

interface Recording {
  /** Test files that met a guard, by the key of the guard. */
  readonly met: Readonly<Record<string, readonly string[]>>;
  readonly seconds: Readonly<Record<string, number>>;
  /** Test files that fail with every guard in its place. */
  readonly broken: readonly string[];
}

interface Outcome {
  readonly result: 'caught' | 'caught with all rows' | 'survived' | 'not met';
  /** The test that failed, or the files that did not. */
  readonly by: readonly string[];
}

/** Every field with a scope stands in the tables of these tests. */
const testsOfScopes = globSync('test/contract/authorization/*.test.ts');
const kept = resolve('node_modules/.cache/guards');
mkdirSync(kept, { recursive: true });
const copy = copyOfRepository();
process.once('exit', () => rmSync(copy, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

const guards = globSync('src/**/*.ts', { exclude: ['src/storage/generated/**'] })
  .sort()
  .flatMap((file) => guardsOf(file, readFileSync(file, 'utf8')));
const recordingPath = join(kept, 'recording.json');
const outcomesPath = join(kept, 'outcomes.json');
if (values.record || !existsSync(recordingPath)) {
  writeFileSync(recordingPath, JSON.stringify(await record()));
  // Tests have changed: what was found with those of before is no longer true.
  rmSync(outcomesPath, { force: true });
}
const recording: Recording = JSON.parse(readFileSync(recordingPath, 'utf8'));
await tryAll(chosen(guards, Number(values.seed), Number(values.count)));

function copyOfRepository(): string {
  const folder = mkdtempSync(join(tmpdir(), 'parley-guards-'));
  const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  for (const file of [
    ...files.split('\0').filter((one) => one !== '' && existsSync(one)),
    'src/storage/generated',
    'console/dist',
    '.git',
  ]) {
    if (!existsSync(file)) continue;
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    cpSync(file, join(folder, file), { recursive: true });
  }
  for (const modules of ['node_modules', 'console/node_modules', 'clients/typescript/node_modules'])
    if (existsSync(modules)) symlinkSync(resolve(modules), join(folder, modules));
  return folder;
}

/** Runs the tests once, with every guard telling which test file it refuses. */
async function record(): Promise<Recording> {
  console.log(`recording which tests meet which of ${guards.length} guards`);
  const files = Map.groupBy(guards, ({ file }) => file);
  for (const [file, ofFile] of files)
    writeFileSync(
      join(copy, file),
      edited(
        readFileSync(file, 'utf8'),
        ofFile.flatMap((guard) => guard.recording),
      ),
    );
  const hits = join(kept, 'hits');
  rmSync(hits, { force: true });
  const options = `${process.env.NODE_OPTIONS ?? ''} --import ${join(copy, 'scripts/mutate-guards/record.ts')}`.trim();
  const report = await run(['test/unit', 'test/api', 'test/contract'], { GUARD_HITS: hits, NODE_OPTIONS: options });
  for (const file of files.keys()) cpSync(file, join(copy, file));
  const met: Record<string, string[]> = {};
  for (const line of readFileSync(hits, 'utf8').split('\n').filter(Boolean)) {
    const [key = '', file = ''] = line.split(' ');
    if (!met[key]?.includes(file)) met[key] = [...(met[key] ?? []), file];
  }
  return {
    met,
    seconds: Object.fromEntries(report.files.map(({ file, seconds }) => [file, seconds])),
    broken: report.files.filter(({ failed }) => failed !== undefined).map(({ file }) => file),
  };
}

async function tryAll(tried: readonly Guard[]): Promise<void> {
  const outcomes: Record<string, Outcome> = existsSync(outcomesPath) ? JSON.parse(readFileSync(outcomesPath, 'utf8')) : {};
  for (const guard of tried) {
    const outcome = outcomes[guard.key] ?? (await outcomeOf(guard));
    outcomes[guard.key] = outcome;
    writeFileSync(outcomesPath, JSON.stringify(outcomes, null, 1));
    console.log(
      `${outcome.result}: ${guard.file}:${guard.line} ${guard.text.replaceAll(/\s+/g, ' ').slice(0, 120)}\n    ${outcome.by.join(', ')}`,
    );
  }
  const counts = Map.groupBy(tried, ({ key }) => outcomes[key]?.result);
  console.log(
    `of ${tried.length} guards (seed ${values.seed}): ${[...counts].map(([result, of]) => `${of.length} ${result}`).join(', ')}`,
  );
}

async function outcomeOf(guard: Guard): Promise<Outcome> {
  const files = filesOf(guard);
  if (files.length === 0) return { result: 'not met', by: [] };
  writeFileSync(join(copy, guard.file), edited(readFileSync(guard.file, 'utf8'), guard.without));
  try {
    for (const [result, env] of [
      ['caught', {}],
      ['caught with all rows', { PROPERTY_RUNS: 'all' }],
    ] as const) {
      const report = await run(files, env, Number(values.seconds));
      const failed =
        report.files.find((one) => one.failed !== undefined)?.failed ??
        (report.files.length === 0 ? 'the tests do not start' : undefined);
      if (failed !== undefined) return { result, by: [failed] };
    }
    return { result: 'survived', by: files };
  } finally {
    cpSync(guard.file, join(copy, guard.file));
  }
}

/** The test files that meet a guard: those first that meet few others, because they are about it; as many as there is time for. */
function filesOf(guard: Guard): readonly string[] {
  const timesMet = new Map<string, number>();
  for (const file of Object.values(recording.met).flat()) timesMet.set(file, (timesMet.get(file) ?? 0) + 1);
  const inOrder = (all: readonly string[] = []) =>
    all.toSorted((one, other) => (timesMet.get(one) ?? 0) - (timesMet.get(other) ?? 0));
  const all =
    guard.kind === 'scope' ? testsOfScopes : [...inOrder(recording.met[guard.key]), ...inOrder(recording.met[`?${guard.key}`])];
  const files = [...new Set(all)].filter((file) => !recording.broken.includes(file));
  let seconds = 0;
  return files.filter((file, place) => {
    seconds += recording.seconds[file] ?? 0;
    return place === 0 || seconds < Number(values.seconds) / 2;
  });
}

interface Report {
  /** Empty where the tests did not end or did not start. */
  readonly files: readonly { readonly file: string; readonly seconds: number; readonly failed: string | undefined }[];
}

function run(files: readonly string[], env: Readonly<Record<string, string>>, seconds?: number): Promise<Report> {
  const output = join(copy, 'guards-report.json');
  rmSync(output, { force: true });
  const words = [
    '--config=scripts/mutate-guards/vitest.config.ts',
    `--maxWorkers=${values.workers}`,
    '--reporter=json',
    `--outputFile=${output}`,
  ];
  const child = spawn(
    join(copy, 'node_modules/.bin/vitest'),
    ['run', ...words, ...(seconds === undefined ? [] : ['--bail=1']), ...files],
    {
      cwd: copy,
      env: { ...process.env, ...env },
      stdio: 'ignore',
      timeout: seconds === undefined ? undefined : seconds * 1000,
    },
  );
  return new Promise((done, fail) => {
    child.once('error', fail);
    child.once('exit', () => done(existsSync(output) ? reportOf(output) : { files: [] }));
  });
}

function reportOf(path: string): Report {
  const { testResults } = JSON.parse(readFileSync(path, 'utf8')) as {
    testResults: readonly {
      name: string;
      startTime: number;
      endTime: number;
      status: string;
      message: string;
      assertionResults: readonly { status: string; fullName: string }[];
    }[];
  };
  return {
    files: testResults.map(({ name, startTime, endTime, status, message, assertionResults }) => {
      const file = name.slice(name.indexOf('/test/') + 1);
      const test = assertionResults.find((one) => one.status === 'failed')?.fullName ?? message.slice(0, 200);
      return { file, seconds: (endTime - startTime) / 1000, failed: status === 'failed' ? `${file}: ${test}` : undefined };
    }),
  };
}

/** @returns so many of the guards, chosen by the seed: a Fisher-Yates shuffle with the generator mulberry32. */
function chosen(all: readonly Guard[], seed: number, count: number): readonly Guard[] {
  const shuffled = [...all];
  let state = seed;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  for (let place = shuffled.length - 1; place > 0; place -= 1) {
    const other = Math.floor(next() * (place + 1));
    [shuffled[place], shuffled[other]] = [shuffled[other] as Guard, shuffled[place] as Guard];
  }
  return shuffled.slice(0, count);
}
