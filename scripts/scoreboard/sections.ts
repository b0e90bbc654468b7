import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';

/** A row of the scoreboard: its cells, in the order of the columns of its section. */
export type Line = readonly string[];

export interface Section {
  readonly name: string;
  readonly title: string;
  /** What is measured, and how to read it. */
  readonly about: string;
  readonly columns: readonly string[];
  /** @throws Error when nothing can be measured here. */
  measure(): Promise<readonly Line[]>;
}

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');
/** No command of a section takes longer: vectors of ten thousand documents need a quarter of an hour on a machine that does nothing else. */
const timeoutMs = 60 * 60_000;

/** The output of a command, also of one that ends with an error: what it found is then in it. */
async function outputOf(command: string, words: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string> {
  const options = { cwd: root, timeout: timeoutMs, maxBuffer: 100_000_000, env: { ...process.env, ...env } };
  return run(command, [...words], options).then(
    ({ stdout }) => stdout,
    (error: { readonly stdout?: string; readonly killed?: boolean }) => {
      if (error.killed === true || error.stdout === undefined || error.stdout === '') throw error;
      return error.stdout;
    },
  );
}

interface TestReport {
  readonly testResults: readonly {
    readonly name: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

/** Passed of tried, of the tests whose names match. Tests that are skipped are not counted. */
async function countTests(files: readonly string[], name = '', env: Readonly<Record<string, string>> = {}): Promise<Line> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-scoreboard-'));
  const report = join(folder, 'report.json');
  try {
    const filter = name === '' ? [] : ['-t', name];
    const words = ['run', '--maxWorkers=1', '--reporter=json', `--outputFile=${report}`, ...filter, ...files];
    await outputOf(join(root, 'node_modules/.bin/vitest'), words, env).catch(() => undefined);
    const { testResults }: TestReport = JSON.parse(readFileSync(report, 'utf8'));
    const results = testResults.flatMap(({ assertionResults }) => assertionResults);
    const tried = results.filter(({ status }) => status === 'passed' || status === 'failed');
    const passed = tried.filter(({ status }) => status === 'passed');
    return [`${passed.length} of ${tried.length}`, passed.length === tried.length && tried.length > 0 ? '' : 'NOT ALL'];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const suites: readonly (readonly [what: string, files: readonly string[], env?: Readonly<Record<string, string>>])[] = [
  ['Open Responses: its own suite, over HTTP and over WebSocket', ['test/contract/open-responses/conformance']],
  ['MCP: the public suite in both roles, both eras', ['test/contract/mcp/conformance.test.ts'], { PROPERTY_RUNS: 'all' }],
  ['GraphQL over HTTP: the audits of graphql-http', ['test/api/ground/graphql/http-spec.test.ts']],
  ['stock clients: openai 4, 6 and 7, LangChain, the AI SDK, Anthropic, OpenAI Agents, A2A, AG-UI', ['test/contract/clients']],
];

/** nDCG@10 and recall@100 of plain BM25 (Porter's stems, k1 1.2, b 0.75) over the same questions. */
const plainBm25: Readonly<Record<string, string>> = { cranfield: '.375, .732', vaswani: '.432, .601' };

const retrievalColumns = [
  'collection',
  'documents',
  'questions',
  'nDCG@10',
  'recall@100',
  'hit@5',
  'plain BM25: nDCG@10, recall@100',
];

async function measureRetrieval(words: readonly string[]): Promise<readonly Line[]> {
  const folder = process.env.COLLECTIONS;
  const more = folder === undefined ? [] : readdirSync(folder).map((name) => join(folder, name));
  const paths = [join(root, 'test/fixtures/retrieval'), ...more].filter((path) => existsSync(join(path, 'corpus.jsonl')));
  const lines: Line[] = [];
  for (const path of paths) {
    const output = await outputOf(process.execPath, ['bench/eval.ts', ...words, '--json', path]);
    for (const line of output.trim().split('\n')) {
      const { documents, queries, how, ndcgAt10, recallAt100, hitAt5 } = JSON.parse(line) as EvaluationLine;
      const name = basename(path) === 'retrieval' ? 'own, small' : basename(path);
      lines.push([
        ...[`${name}, ${how}`, String(documents), String(queries), toDigits(ndcgAt10), toDigits(recallAt100), toDigits(hitAt5)],
        plainBm25[name] ?? '–',
      ]);
    }
  }
  return lines;
}

export const sections: readonly Section[] = [
  {
    name: 'peers',
    title: 'Speed beside peers',
    about:
      'Completions through a plain Express gateway, Portkey’s gateway from npm and Parley, one after the other, each on one core in front of the same stand-in of a provider (`npm run bench:peers`). Peers do less: they keep no run, no usage and no limits.',
    columns: [],
    async measure() {
      const table = (await outputOf(process.execPath, ['bench/peers/peers.ts']))
        .split('\n')
        .filter((line) => line.startsWith('|'));
      return table
        .filter((line) => !/^\|( --- \|)+$/.test(line))
        .map((line) =>
          line
            .split('|')
            .slice(1, -1)
            .map((cell) => cell.trim()),
        );
    },
  },
  {
    name: 'package',
    title: 'The package',
    about:
      'What `npm run pack` makes, installed in an empty folder without a registry (`npm run pack:check -- --figures`): its size, starts until `/readyz` is 200, and the memory of all its processes when nobody asks, with the embedded database. Other work on the machine makes starts longer.',
    columns: ['what', 'measured', 'target'],
    async measure() {
      const output = await outputOf(process.execPath, ['deploy/check-package.ts', '--figures']);
      const [, size, sizeMax] = /(\d+) MB installed \(at most (\d+)\)/.exec(output) ?? [];
      if (size === undefined) throw new Error('build has no package: npm run pack');
      const figures = [...output.matchAll(/^(.+): (\S+ \w+) .*\(target (\S+ \w+)\)/gm)];
      return [
        ['installed, without Node', `${size} MB`, `${sizeMax} MB`],
        ...figures.map(([, what = '', measured = '', target = '']) => [what, measured, target]),
      ];
    },
  },
  {
    name: 'suites',
    title: 'Conformance and stock clients',
    about: 'Tests that passed, of those that were tried.',
    columns: ['suite', 'passed', ''],
    async measure() {
      const lines: Line[] = [];
      for (const [what, files, env] of suites) lines.push([what, ...(await countTests(files, '', env))]);
      return lines;
    },
  },
  {
    name: 'documents',
    title: 'Documents',
    about:
      'Tests of what is read out of documents: PDF, Word, sheets, slides, mails, books, pages and data, with tables, turned pages, hidden text, right-to-left and broken files. Passed of those that were tried.',
    columns: ['documents', 'right', ''],
    async measure() {
      return [['formats and their traps', ...(await countTests(['test/unit/extract'], '', { PROPERTY_RUNS: 'all' }))]];
    },
  },
  {
    name: 'leaks',
    title: 'Leak test',
    about:
      'Made-up companies whose people, groups and documents change step by step; each person asks in every way that names documents, and a judge that shares nothing with Parley says what each may see (`npm run leak-test`, [bench/leak-test](../bench/leak-test/README.md)). Passed: no leak, nothing missing, and leaks where permissions are left out.',
    columns: ['what', 'companies', ''],
    async measure() {
      return [['from seeds', ...(await countTests(['test/api/knowledge/permissions/leak.test.ts']))]];
    },
  },
  {
    name: 'faults',
    title: 'Faults by seed',
    about:
      'Worlds in which processes die, clocks disagree, connections break and signals are lost, all from one seed; an oracle asks what must hold ([test/simulation](../test/simulation/README.md)).',
    columns: ['seeds', 'worlds that hold', ''],
    async measure() {
      const count = 200;
      const output = await outputOf(process.execPath, ['test/simulation/seeds.ts', '--from', '1', '--count', String(count)]);
      const held = /(\d+) of (\d+) seeds hold/.exec(output);
      if (held === null) throw new Error('the worlds did not come to an end');
      const broken = [...output.matchAll(/^SEED=\d+/gm)].map(([seed]) => seed);
      return [[`1 to ${count}`, `${held[1]} of ${held[2]}`, broken.join(' ')]];
    },
  },
  {
    name: 'retrieval',
    title: 'Retrieval by words',
    about:
      'Word search over collections in the layout of BEIR (`npm run eval -- FOLDER`). `COLLECTIONS` names the folder that has them; the small one is of this repository.',
    columns: retrievalColumns,
    measure: () => measureRetrieval([]),
  },
  {
    name: 'hybrid',
    title: 'Retrieval by words and vectors',
    about:
      'The same with the vectors of a stand-in that is no language model (`npm run eval -- --hybrid FOLDER`): minutes for each collection.',
    columns: retrievalColumns,
    measure: () => measureRetrieval(['--hybrid']),
  },
];

interface EvaluationLine {
  readonly documents: number;
  readonly queries: number;
  readonly how: string;
  readonly ndcgAt10: number;
  readonly recallAt100: number;
  readonly hitAt5: number;
}

function toDigits(figure: number): string {
  return figure.toFixed(3);
}
