import { constants } from 'node:fs';
import { access, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { membersOf, readElements } from '../../../src/lib/json/json.ts';
import { findAgent } from '../agents.ts';
import { failed, misused } from '../failure.ts';
import { suggestion } from '../nearest.ts';
import { bar, harmless, type Screen } from '../output/screen.ts';
import type { Service } from '../service.ts';
import { agentOption, type CommandContext, type WrittenCommand } from './command.ts';

const lookMs = 500;
const tokensDefault = 1_000_000;

export const evaluate: WrittenCommand = {
  name: 'evaluate',
  words: [0, 0],
  summary: 'Asks versions of an agent the cases of a dataset, and fails below a rate',
  details:
    'Waits until all cases are asked, and says what is better and worse case by case. Ends with 1 when the rate is below --fail-below, when the version is worse than the one of --against, when one of its answers is missing or could not be scored, or when the experiment did not come to its end. Ctrl-C cancels the experiment.',
  options: [
    agentOption,
    { name: 'dataset', value: 'name or id', meaning: 'The dataset. Without it: the only one of the agent.' },
    { name: 'version', value: 'version', meaning: 'Which is asked: draft, published or a number. Default: draft.' },
    { name: 'against', value: 'version', meaning: 'Which it is compared with: published, or a number.' },
    { name: 'failBelow', value: 'percent', meaning: 'The least share of passed answers, in percent. Default: 0.' },
    { name: 'repeats', value: 'number', meaning: 'How often each case is asked, 1 to 5. Default: 1.' },
    { name: 'tokensMax', value: 'number', meaning: `Tokens that it may use. Default: ${tokensDefault}.` },
    { name: 'junit', value: 'file', meaning: 'Writes a report for pipelines there.' },
  ],
  example: 'evaluate --agent "Ask the manual" --dataset "Before a change" --against published --fail-below 90',
  async run(context) {
    const { service, screen, options, switches } = context;
    const failBelow = numberOf(options, 'failBelow', 0);
    const path = options.get('junit');
    // Before anything is asked and paid.
    if (path !== undefined) await requireFolder(path);
    const agent = await findAgent(service, options.get('agent'));
    const experiment = await whenEnded(context, await begin(context, agent.id));
    if (path !== undefined) await writeFile(path, await junitOf(service, experiment));
    if (switches.has('json')) screen.out(`${JSON.stringify(experiment, null, 2)}\n`);
    else show(screen, experiment);
    return isGood(screen, experiment, failBelow);
  },
};

type Experiment = Readonly<Record<string, unknown>> & { readonly id: string };

async function requireFolder(path: string): Promise<void> {
  try {
    await access(dirname(path), constants.W_OK);
  } catch {
    throw misused(`--junit: no file can be written to the folder ${dirname(path)}.`);
  }
}

async function begin({ service, options }: CommandContext, agentId: string): Promise<Experiment> {
  const against = options.get('against');
  const version = options.get('version') ?? 'draft';
  const body = {
    versions: against === undefined ? [version] : [against, version],
    datasetId: await findDataset(service, agentId, options.get('dataset')),
    repeats: numberOf(options, 'repeats', 1),
    tokensMax: numberOf(options, 'tokensMax', tokensDefault),
  };
  const begun = (await service.send('POST', `/api/v1/ais/${agentId}/experiments`, body)) as Experiment;
  const [only, other] = readElements(begun.variants).map((variant) => String(membersOf(variant).version));
  if (against === undefined || other !== undefined) return begun;
  await cancel(service, begun.id);
  throw misused(`--version and --against both name version ${harmless(only ?? '')}: there is nothing to compare.`);
}

async function findDataset(service: Service, agentId: string, given: string | undefined): Promise<string> {
  const reply = membersOf(await service.send('GET', `/api/v1/ais/${agentId}/datasets`));
  const datasets = readElements(reply.data).map((one) => membersOf(one) as { readonly id: string; readonly name: string });
  const [first, second] = given === undefined ? datasets : datasets.filter(({ id, name }) => id === given || name === given);
  const names = datasets.map(({ name }) => name);
  if (first === undefined) {
    if (datasets.length === 0) throw failed('The agent has no dataset yet. Make one in the console, or with createDataset.');
    throw failed(`There is no dataset "${given}".${suggestion(given ?? '', names)} There are: ${names.join(', ')}.`);
  }
  if (second === undefined) return first.id;
  throw misused(
    `Which dataset? Name one with --dataset, by its id where names repeat: ${datasets.map(({ id, name }) => `${name} (${id})`).join(', ')}.`,
  );
}

async function whenEnded({ service, screen, signal }: CommandContext, begun: Experiment): Promise<Experiment> {
  let experiment = begun;
  try {
    while (experiment.summary === null) {
      const [done, planned] = [Number(experiment.doneCount) + Number(experiment.failedCount), Number(experiment.plannedCount)];
      screen.progress(`Asking the cases  ${bar(done, planned)}  ${done}/${planned}`);
      await wait(lookMs, undefined, { signal });
      experiment = (await service.send('GET', `/api/v1/experiments/${begun.id}`)) as Experiment;
      if (experiment.status === 'FAILED') break;
    }
  } catch (error) {
    if (signal.aborted) await cancel(service, begun.id);
    throw error;
  }
  screen.progress('');
  return experiment;
}

/** The signal of the command has fired: this request is made without it. */
async function cancel(service: Service, id: string): Promise<void> {
  await service.sendLast('POST', `/api/v1/experiments/${id}/cancel`);
}

async function junitOf(service: Service, { id }: Experiment): Promise<string> {
  return String(membersOf(await service.send('GET', `/api/v1/experiments/${id}/report?format=JUNIT`)).content);
}

function show(screen: Screen, { id, variants, summary, seed, tokens }: Experiment): void {
  const names = readElements(variants).map((variant) => String(membersOf(variant).version));
  const { variants: figures, comparisons } = membersOf(summary);
  for (const [index, one] of readElements(figures).entries()) {
    const { rate, interval, caseCount, failedCount } = membersOf(one);
    screen.out(
      `${harmless(names[index] ?? '')}: ${percent(rate)}${range(interval)} of ${caseCount} cases pass, ${failedCount} were not answered\n`,
    );
  }
  for (const one of readElements(comparisons)) {
    const { better, same, worse, difference, interval, verdict, costRatio } = membersOf(one);
    const cost = typeof costRatio === 'number' ? `, ${costRatio.toFixed(2)} × the cost` : '';
    screen.out(
      `${better} better, ${same} the same, ${worse} worse: ${percent(difference)}${range(interval)}${cost}. ${sentences[String(verdict)] ?? ''}\n`,
    );
  }
  screen.out(`${id}, ${tokens} tokens, seed ${seed}\n`);
}

const sentences: Readonly<Record<string, string>> = {
  BETTER: 'It is better.',
  WORSE: 'It is worse.',
  SAME: 'No case differs.',
  NOT_ENOUGH_CASES: 'Not enough cases to tell.',
};

function isGood(screen: Screen, { status, error, summary }: Experiment, failBelow: number): boolean {
  if (status !== 'DONE') {
    screen.err(`The experiment did not come to its end: ${String(error ?? status)}\n`);
    return false;
  }
  const { variants, comparisons } = membersOf(summary);
  const { rate, failedCount, unscoredCount } = membersOf(readElements(variants).at(-1));
  // The rate counts scored answers only.
  const lacks = [
    ...(Number(failedCount) > 0 ? [`${Number(failedCount)} questions were not answered`] : []),
    ...(Number(unscoredCount) > 0 ? [`${Number(unscoredCount)} answers could not be scored`] : []),
  ];
  if (lacks.length > 0) screen.err(`${lacks.join(', and ')}\n`);
  const isBelow = Number(rate ?? 0) * 100 < failBelow;
  if (isBelow) screen.err(`The rate of ${percent(rate)} is below ${failBelow} %\n`);
  const isWorse = membersOf(readElements(comparisons)[0]).verdict === 'WORSE';
  if (isWorse) screen.err('The version is worse than the one that it is compared with\n');
  return !isBelow && !isWorse && lacks.length === 0;
}

function percent(share: unknown): string {
  return typeof share === 'number' ? `${(share * 100).toFixed(1)} %` : 'nothing';
}

function range(interval: unknown): string {
  const { low, high } = membersOf(interval);
  return typeof low === 'number' ? ` (${percent(low)} to ${percent(high)})` : '';
}

function numberOf(options: CommandContext['options'], name: string, byDefault: number): number {
  const text = options.get(name);
  const value = text === undefined ? byDefault : Number(text);
  if (text?.trim() === '' || !Number.isFinite(value) || value < 0)
    throw misused(`--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)} must be a number, not "${text}".`);
  return value;
}
