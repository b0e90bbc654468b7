// Runs the tests of one npm script once. Repeats each failed test file once, alone: one that passes then is printed as flaky, to be mended, and does not fail the run.
// Usage: node .ci/tests.mjs <result.json> <npm script> [words for vitest]. Writes {"passed", "failed", "flaky"}. Plain JavaScript: it may run on an old Node.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';

const folder = mkdtempSync(join(tmpdir(), 'parley-ci-tests-'));
const [, , resultPath, script, ...words] = process.argv;
const first = run('all', script, ...words);
const result = { passed: first.passed, failed: 0, flaky: [] };
for (const { file, failed, isUnknown } of first.broken) {
  console.log(`== again, alone: ${file}`);
  const again = run('again', script, file, '--maxWorkers=1');
  if (again.broken.length > 0 || isUnknown) result.failed += Math.max(1, failed);
  else {
    result.passed += failed;
    result.flaky.push(file);
  }
}
rmSync(folder, { recursive: true, force: true });
writeFileSync(resultPath, JSON.stringify(result));

/** @returns how many tests passed, and the files in which something did not. */
function run(name, script, ...words) {
  const report = join(folder, `${name}.json`);
  rmSync(report, { force: true });
  const args = ['run', script, '--', ...words, '--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const { status } = spawnSync('npm', args, { stdio: 'inherit' });
  // Without a report nobody knows what ran: no repetition makes that good.
  if (!existsSync(report)) return { passed: 0, broken: [{ file: name, failed: 1, isUnknown: true }] };
  const { numPassedTests, testResults } = JSON.parse(readFileSync(report, 'utf8'));
  const broken = testResults
    .filter((file) => file.status === 'failed')
    .map((file) => ({
      file: relative(process.cwd(), file.name),
      failed: file.assertionResults.filter((test) => test.status === 'failed').length,
      isUnknown: false,
    }));
  // An error outside any test: an unhandled rejection, a worker that died.
  if (status !== 0 && broken.length === 0) broken.push({ file: name, failed: 1, isUnknown: true });
  return { passed: numPassedTests, broken };
}
