import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { printPage, type Result, type Results } from './page.ts';
import { sections } from './sections.ts';

/** `npm run scoreboard`: measures all sections, or those of `--only`, keeps what it found in docs/scoreboard.json, and prints docs/scoreboard.md from it. */
const docs = join(import.meta.dirname, '../../docs');
const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: [] },
    /** Measures nothing: prints what was measured before. */
    print: { type: 'boolean', default: false },
  },
});
const names = sections.map(({ name }) => name);
for (const name of values.only) if (!names.includes(name)) throw new Error(`--only is one of ${names.join(', ')}, not ${name}`);

const path = join(docs, 'scoreboard.json');
let results: Results = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {};
let hasFailed = false;
for (const section of sections) {
  if (values.print || (values.only.length > 0 && !values.only.includes(section.name))) continue;
  console.log(section.name);
  const [load = 0] = loadavg();
  try {
    const lines = await section.measure();
    const result: Result = { commit: commit(), machine: machine(), date: new Date().toISOString().slice(0, 10), load, lines };
    // After each section: what was measured stays when a later one fails.
    results = { ...results, [section.name]: result };
    writeFileSync(path, `${JSON.stringify(results, undefined, 2)}\n`);
    for (const line of lines) console.log(`  ${line.join(' | ')}`);
  } catch (error) {
    hasFailed = true;
    console.error(`  not measured: ${error instanceof Error ? error.message : String(error)}`);
  }
}
writeFileSync(join(docs, 'scoreboard.md'), printPage(sections, results));
process.exit(hasFailed ? 1 : 0);

function commit(): string {
  const git = (...words: readonly string[]) => execFileSync('git', words, { encoding: 'utf8', cwd: docs }).trim();
  const isChanged = git('status', '--porcelain', '--', '../src', '../bench', '../test', '../package-lock.json') !== '';
  return `${git('rev-parse', '--short=9', 'HEAD')}${isChanged ? ' with changes' : ''}`;
}

function machine(): string {
  const processors = cpus();
  return `${processors.length} cores of ${processors[0]?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.versions.node}`;
}
