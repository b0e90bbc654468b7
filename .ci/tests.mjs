// Runs the tests of one npm script once. Repeats each failed test file once, alone: one that passes then is printed as flaky, to be mended, and does not fail the run.
// Usage: node .ci/tests.mjs <result.json> <npm script> [words for vitest]. Plain JavaScript: it may run on an old Node.
// Writes {"passed", "failed", "flaky", "broken", "seconds", "processorSeconds", "slowest"}: `flaky` are files, `broken` the tests that failed twice, `slowest` files with
// their seconds. `processorSeconds` near `seconds` × processors says that more workers would make it no faster.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';

const folder = mkdtempSync(join(tmpdir(), 'parley-ci-tests-'));
const [, , resultPath, script, ...words] = process.argv;
const started = Date.now();
const first = run('all', script, ...words);
const result = {
  script,
  passed: first.passed,
  failed: 0,
  flaky: [],
  broken: [],
  seconds: 0,
  processorSeconds: 0,
  slowest: first.slowest,
};
for (const { file, tests, isUnknown } of first.broken) {
  console.log(`== again, alone: ${file}`);
  const again = run('again', script, file, '--maxWorkers=1');
  if (again.broken.length > 0 || isUnknown) {
    result.failed += Math.max(1, tests.length);
    result.broken.push(...again.broken.flatMap((one) => [`${script}: ${one.file}`, ...one.tests.map((test) => `  ${test}`)]));
  } else {
    result.passed += tests.length;
    result.flaky.push(file);
  }
}
result.seconds = Math.round((Date.now() - started) / 1000);
result.processorSeconds = processorSeconds();
rmSync(folder, { recursive: true, force: true });
writeFileSync(resultPath, JSON.stringify(result));

/** Of the processes that ended, with theirs; 0 where the system does not tell. */
function processorSeconds() {
  const ticksPerSecond = 100;
  if (!existsSync('/proc/self/stat')) return 0;
  // Behind the name, which may hold spaces: fields 16 and 17 of proc(5).
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1].split(' ');
  return Math.round((Number(fields[13]) + Number(fields[14])) / ticksPerSecond);
}

/** @returns how many tests passed, the files in which something did not with the names of those tests, and the ten slowest files. */
function run(name, script, ...words) {
  const report = join(folder, `${name}.json`);
  rmSync(report, { force: true });
  const args = ['run', script, '--', ...words, '--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const { status } = spawnSync('npm', args, { stdio: 'inherit' });
  // Without a report nobody knows what ran: no repetition makes that good.
  if (!existsSync(report)) return { passed: 0, broken: [{ file: name, tests: [], isUnknown: true }], slowest: [] };
  const { numPassedTests, testResults } = JSON.parse(readFileSync(report, 'utf8'));
  const broken = testResults
    .filter((file) => file.status === 'failed')
    .map((file) => ({
      file: relative(process.cwd(), file.name),
      tests: file.assertionResults.filter((test) => test.status === 'failed').map((test) => test.fullName),
      isUnknown: false,
    }));
  const slowest = testResults
    .map((file) => ({ file: relative(process.cwd(), file.name), seconds: Math.round((file.endTime - file.startTime) / 1000) }))
    .sort((one, other) => other.seconds - one.seconds)
    .slice(0, 10);
  // An error outside any test: an unhandled rejection, a worker that died.
  if (status !== 0 && broken.length === 0) broken.push({ file: name, tests: [], isUnknown: true });
  return { passed: numPassedTests, broken, slowest };
}
