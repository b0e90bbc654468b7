import { checkAll } from '../../src/start/checks/checks.ts';
import type { Finding } from '../../src/start/checks/finding.ts';
import type { Typed } from './arguments.ts';
import { misused } from './failure.ts';

export const doctorHelp = `parley doctor

Checks the settings of this environment (and of .env), the folders and their disks, the database, the store of files, the port, the model
providers, and whether names of URLs can be looked up. Says of each what it found, and what to do. Changes nothing, and runs beside a service.

  --json     the findings as JSON: check, level (good, warning, wrong), message, advice

Ends with 0 when nothing is wrong, else with 1.`;

const marks: Readonly<Record<Finding['level'], string>> = { good: 'ok', warning: 'look', wrong: 'WRONG' };

/** `parley doctor`: what to print, and whether nothing is wrong. @throws Failure for members that it does not take. */
export async function doctor(
  { words, options, switches }: Typed,
  env: NodeJS.ProcessEnv,
): Promise<{ readonly text: string; readonly isGood: boolean }> {
  const surplus = [...words.slice(1), ...options.keys()];
  if (surplus.length > 0) throw misused(`doctor takes --json only, not "${surplus.join(' ')}".`);
  if (switches.has('help')) return { text: doctorHelp, isGood: true };
  const findings = await checkAll(env);
  const text = switches.has('json') ? JSON.stringify({ findings }, null, 2) : shownFindings(findings);
  return { text, isGood: findings.every(({ level }) => level !== 'wrong') };
}

function shownFindings(findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ check }) => check.length));
  const lines = findings.flatMap(({ check, level, message, advice }) => {
    const line = `${marks[level].padEnd(6)}${check.padEnd(width)}  ${message}`;
    return advice === undefined ? [line] : [line, `${' '.repeat(width + 8)}${advice}`];
  });
  const count = (level: Finding['level']) => findings.filter((finding) => finding.level === level).length;
  const sum = count('wrong') === 0 ? 'Nothing is wrong.' : `${count('wrong')} wrong.`;
  return [...lines, '', count('warning') === 0 ? sum : `${sum} ${count('warning')} to look at.`].join('\n');
}
