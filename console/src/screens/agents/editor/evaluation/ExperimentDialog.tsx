import type { ParleyError } from '@parley/client';
import { useState } from 'react';
import { useMutate } from '../../../../graphql/hooks.ts';
import { useText } from '../../../../text/text.ts';
import { errorBeside, findFault } from '../../../../ui/form/faults/find.ts';
import { SelectField, TextField } from '../../../../ui/form/fields.tsx';
import { PartDialog } from '../parts/PartDialog.tsx';
import type { EditorAgent } from '../section.ts';
import { draftName, versionTitle } from '../versions/words.ts';
import { ChoiceRows } from './ChoiceRows.tsx';
import { type EvaluationQuery, RunExperimentDocument } from './documents.ts';
import { ScorerList } from './scorers/ScorerList.tsx';
import { defaultScorers, toScorerInput } from './scorers/values.ts';

interface Props {
  readonly agent: EditorAgent;
  readonly page: EvaluationQuery;
  readonly onClose: () => void;
  readonly onBegun: (id: string) => void;
}

const tokensDefault = 200_000;
const variantsMax = 4;
const places = [
  ...['input.versions', 'input.models', 'input.scorers', 'input.datasetId', 'input.repeats', 'input.tokensMax'],
  ...['input.costMax', 'input.seed', 'input.revision'],
];

interface Values {
  readonly datasetId: string;
  readonly versions: readonly string[];
  readonly models: readonly string[];
  readonly scorers: typeof defaultScorers;
  readonly repeats: string;
  readonly tokensMax: string;
  readonly costMax: string;
  readonly seed: string;
  readonly revision: string;
}

function startValues({ publishedVersion, draft }: EditorAgent, page: EvaluationQuery): Values {
  return {
    datasetId: page.datasets.nodes[0]?.id ?? '',
    versions: [String(publishedVersion), ...(draft?.isChanged === true ? [draftName] : [])],
    models: [],
    scorers: defaultScorers,
    ...{ repeats: '1', tokensMax: String(tokensDefault), costMax: '', seed: '', revision: '' },
  };
}

function toInput({ datasetId, versions, models, scorers, ...texts }: Values) {
  const orNull = (text: string) => (text.trim() === '' ? null : Number(text));
  return {
    datasetId,
    versions: [...versions],
    models: models.length === 0 ? null : [...models],
    scorers: scorers.length === 0 ? null : scorers.map(toScorerInput),
    repeats: Number(texts.repeats),
    tokensMax: Number(texts.tokensMax),
    ...{ costMax: orNull(texts.costMax), seed: orNull(texts.seed), revision: orNull(texts.revision) },
  };
}

/** What to ask whom, how answers are scored, and what it may use. */
export function ExperimentDialog({ agent, page, onClose, onBegun }: Props) {
  const { t } = useText();
  const begin = useMutate(RunExperimentDocument);
  const [start] = useState(() => startValues(agent, page));
  const [values, setValues] = useState(start);
  const change = (members: Partial<Values>) => setValues({ ...values, ...members });
  const { error } = begin;
  const submit = async () => {
    const reply = await begin.run({ agentId: agent.id, input: toInput(values) });
    if (reply !== undefined) onBegun(reply.runExperiment.id);
  };
  const names = [draftName, ...page.agentVersions.nodes.map(({ number }) => String(number))];
  const fields = { values, change, error };
  return (
    <PartDialog
      title={t('New experiment')}
      size="wide"
      isDirty={values !== start}
      isBusy={begin.isBusy}
      error={errorBeside(error, places)}
      onClose={onClose}
      onSubmit={() => void submit()}
      action={t('Start')}
    >
      <SelectField
        label={t('Dataset')}
        error={findFault(error, 'input.datasetId')}
        value={values.datasetId}
        onChange={(datasetId) => change({ datasetId })}
        options={page.datasets.nodes.map(({ id, name }) => ({ value: id, label: name }))}
      />
      <ChoiceRows
        legend={t('Versions')}
        values={values.versions}
        options={names.map((value) => ({ value, label: versionTitle(t, value) }))}
        least={1}
        most={variantsMax}
        add={t('Add a version')}
        label={(index) => (index === 0 ? t('First version') : t('Compared with it, {number}', { number: index }))}
        fault={(index) => faultOf(error, 'versions', index)}
        onChange={(versions) => change({ versions })}
      />
      <ChoiceRows
        legend={t('Models')}
        note={
          values.models.length === 0
            ? t('Each version is asked with its own model.')
            : t('Each version is asked with each of these models, in place of its own.')
        }
        values={values.models}
        options={page.models.map(({ id }) => ({ value: id, label: id }))}
        least={0}
        most={variantsMax}
        add={t('Add a model')}
        label={(index) => t('Model {number}', { number: index + 1 })}
        fault={(index) => faultOf(error, 'models', index)}
        onChange={(models) => change({ models })}
      />
      <ScorerList
        scorers={values.scorers}
        models={page.models}
        currency={page.viewer.costCurrency}
        error={error}
        onChange={(scorers) => change({ scorers })}
      />
      <BudgetFields {...fields} page={page} />
    </PartDialog>
  );
}

/** Of one row, or of all of them together beside the first. */
function faultOf(error: ParleyError | undefined, member: string, index: number) {
  const ofAll = index === 0 ? error?.faults.find(({ path }) => path === `input.${member}`) : undefined;
  return findFault(error, `input.${member}.${index}`) ?? ofAll;
}

function BudgetFields({
  values,
  change,
  error,
  page,
}: {
  readonly values: Values;
  readonly change: (members: Partial<Values>) => void;
  readonly error: ParleyError | undefined;
  readonly page: EvaluationQuery;
}) {
  const { t } = useText();
  const count = (name: 'repeats' | 'tokensMax' | 'costMax' | 'seed' | 'revision', label: string, hint: string) => (
    <TextField
      label={label}
      error={findFault(error, `input.${name}`)}
      hint={hint}
      type="number"
      min={0}
      step="any"
      value={values[name]}
      onChange={(value) => change({ [name]: value })}
    />
  );
  const dataset = page.datasets.nodes.find(({ id }) => id === values.datasetId);
  const caseCount = dataset === undefined || values.revision.trim() !== '' ? undefined : dataset.caseCount - dataset.draftCount;
  const repeats = Number(values.repeats);
  const planned =
    caseCount === undefined ? Number.NaN : caseCount * values.versions.length * Math.max(1, values.models.length) * repeats;
  return (
    <>
      {count('repeats', t('How often each question is asked'), t('From 1 to 5.'))}
      {count('tokensMax', t('Tokens that it may use'), t('It stops before it uses more. They are charged to you.'))}
      {count(
        'costMax',
        t('What it may cost, in {currency}', { currency: page.viewer.costCurrency }),
        t('Empty: no bound besides the tokens.'),
      )}
      <details>
        <summary>{t('More')}</summary>
        {count('revision', t('Revision of the dataset'), t('Empty: the newest.'))}
        {count('seed', t('Seed of the drawings'), t('The same number gives the same intervals. Empty: another one each time.'))}
      </details>
      {Number.isInteger(planned) && planned > 0 ? (
        <p role="status">{t('{count, plural, one {# answer is} other {# answers are}} asked for.', { count: planned })}</p>
      ) : null}
    </>
  );
}
