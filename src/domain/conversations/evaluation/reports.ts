import type { Experiment, ExperimentResult, Variant } from '../../../entities/conversations/evaluation/experiment.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import { writeCsvLine } from '../../../lib/text/csv.ts';
import { oneLine, storableText } from '../../../lib/text/text.ts';
import type { Deps } from '../../deps.ts';
import { getExperiment } from './experiments.ts';
import { type ExperimentCase, readPairs } from './pairs.ts';

export const reportFormats = ['CSV', 'JUNIT'] as const;
export type ReportFormat = (typeof reportFormats)[number];

export interface Report {
  readonly filename: string;
  readonly contentType: string;
  content(): Promise<string>;
}

/** What an experiment found, as a file: a line for each answer, or JUnit for pipelines. @throws DomainError NOT_FOUND, FORBIDDEN. */
export async function exportExperiment(deps: Deps, caller: Caller, id: string, format: ReportFormat): Promise<Report> {
  const experiment = await getExperiment(deps, caller, id);
  return format === 'CSV'
    ? { filename: `${id}.csv`, contentType: 'text/csv; charset=utf-8', content: () => writeCsv(deps, caller, experiment) }
    : {
        filename: `${id}.xml`,
        contentType: 'application/xml; charset=utf-8',
        content: () => writeJunit(deps, caller, experiment),
      };
}

const columns = [
  ...[
    'case',
    'question',
    'tags',
    'version',
    'model',
    'repeat',
    'state',
    'passed',
    'value',
    'verdict',
    'answer',
    'scores',
    'citations',
  ],
  ...['calls', 'tokens', 'cost', 'durationMs', 'error'],
];

async function writeCsv(deps: Deps, caller: Caller, experiment: Experiment): Promise<string> {
  const lines = [columns.join(',')];
  for await (const cases of readPairs(deps, experiment, caller)) {
    for (const one of cases)
      for (const result of one.results) lines.push(writeCsvLine(toCells(one, result, experiment.variants[result.variant])));
  }
  return lines.map((line) => `${line}\n`).join('');
}

function toCells({ caseId, question, tags, verdict }: ExperimentCase, result: ExperimentResult, variant: Variant | undefined) {
  const { repeat, state, passed, value, answer, scores, citations, calls, tokens, cost, durationMs, error } = result;
  return [
    ...[
      caseId,
      question,
      tags.join(' '),
      variant?.version,
      variant?.modelId,
      repeat,
      state,
      passed,
      value,
      verdict,
      answer,
      scores,
    ],
    ...[citations.map(({ name }) => name).join(' '), calls, tokens, cost, durationMs, error],
  ];
}

/** One suite for each variant. A case of which a scorer could not say whether it passes is an error, one that was not asked is skipped. */
async function writeJunit(deps: Deps, caller: Caller, experiment: Experiment): Promise<string> {
  const suites = experiment.variants.map(() => ({ lines: [] as string[], tests: 0, failures: 0, errors: 0, skipped: 0 }));
  for await (const cases of readPairs(deps, experiment, caller)) {
    for (const one of cases) {
      for (const result of one.results) {
        const suite = suites[result.variant];
        if (suite === undefined) continue;
        const outcome = outcomeOf(result);
        suite.tests += 1;
        if (outcome !== undefined) suite[outcome.kind] += 1;
        suite.lines.push(writeTest(one, result, outcome?.text ?? ''));
      }
    }
  }
  const written = suites.map(({ lines, tests, failures, errors, skipped }, index) => {
    const name = escapeXml(nameOf(experiment.variants[index]));
    return `  <testsuite name="${name}" tests="${tests}" failures="${failures}" errors="${errors}" skipped="${skipped}">\n${lines.join('')}  </testsuite>\n`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="${escapeXml(experiment.id)}">\n${written.join('')}</testsuites>\n`;
}

/** `version 4 · model`. */
export function nameOf(variant: Variant | undefined): string {
  const { version = '', modelId = null } = variant ?? {};
  return [/^\d+$/.test(version) ? `version ${version}` : version, ...(modelId === null ? [] : [modelId])].join(' · ');
}

type Outcome = { readonly kind: 'failures' | 'errors' | 'skipped'; readonly text: string } | undefined;

function outcomeOf({ state, passed, scores, error }: ExperimentResult): Outcome {
  if (state === 'FAILED') return { kind: 'errors', text: `<error message="${escapeXml(error ?? 'It failed')}"/>` };
  if (state !== 'DONE') return { kind: 'skipped', text: `<skipped message="${escapeXml(error ?? 'It was not asked')}"/>` };
  if (passed === true) return undefined;
  const notes = scores.filter((score) => score.passed !== true).map((score) => `${score.kind}: ${score.error ?? score.note}`);
  if (passed === false) return { kind: 'failures', text: `<failure message="${escapeXml(notes.join('; '))}"/>` };
  if (notes.length === 0) return { kind: 'skipped', text: '<skipped message="No scorer has anything to say of it"/>' };
  return { kind: 'errors', text: `<error message="${escapeXml(notes.join('; '))}"/>` };
}

function writeTest(
  { caseId, question, tags }: ExperimentCase,
  { repeat, durationMs }: ExperimentResult,
  outcome: string,
): string {
  const name = escapeXml(oneLine(`${question.slice(0, 200)}${repeat === 0 ? '' : ` (${repeat + 1})`}`));
  const seconds = ((durationMs ?? 0) / 1_000).toFixed(3);
  const start = `    <testcase classname="${escapeXml([caseId, ...tags].join(' '))}" name="${name}" time="${seconds}"`;
  return outcome === '' ? `${start}/>\n` : `${start}>${outcome}</testcase>\n`;
}

/** XML has no control characters, and not the two that are no characters. */
function escapeXml(text: string): string {
  const plain = [...storableText(text)]
    .filter((sign) => (sign >= ' ' && sign !== '\ufffe' && sign !== '\uffff') || '\t\n\r'.includes(sign))
    .join('');
  return plain.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
