import { useState } from 'react';
import { useMutate } from '../../../../graphql/hooks.ts';
import { useText } from '../../../../text/text.ts';
import { errorBeside, findFault } from '../../../../ui/form/faults/find.ts';
import { Field, Select, TextInput } from '../../../../ui/form/field.tsx';
import { PartDialog } from '../parts/PartDialog.tsx';
import type { EditorAgent } from '../section.ts';
import { draftName, versionTitle } from '../versions/words.ts';
import { type EvaluationQuery, RunExperimentDocument } from './documents.ts';

interface Props {
  readonly agent: EditorAgent;
  readonly page: EvaluationQuery;
  readonly onClose: () => void;
  readonly onBegun: (id: string) => void;
}

const tokensDefault = 200_000;
const places = ['input.versions', 'input.datasetId', 'input.repeats', 'input.tokensMax', 'input.models', 'input.costMax'];

/** What to ask whom, and what it may use. */
export function ExperimentDialog({ agent, page, onClose, onBegun }: Props) {
  const { t } = useText();
  const begin = useMutate(RunExperimentDocument);
  const [datasetId, setDataset] = useState(page.datasets.nodes[0]?.id ?? '');
  const [first, setFirst] = useState(String(agent.publishedVersion));
  const [second, setSecond] = useState<string>(agent.draft?.isChanged === true ? draftName : '');
  const [modelId, setModel] = useState('');
  const [repeats, setRepeats] = useState('1');
  const [tokensMax, setTokensMax] = useState(String(tokensDefault));
  const [costMax, setCostMax] = useState('');
  const names = [draftName, ...page.agentVersions.nodes.map(({ number }) => String(number))];
  const submit = async () => {
    const reply = await begin.run({
      agentId: agent.id,
      input: {
        datasetId,
        versions: [first, second].filter((name) => name !== ''),
        models: modelId === '' ? null : [modelId],
        repeats: Number(repeats),
        tokensMax: Number(tokensMax),
        costMax: costMax === '' ? null : Number(costMax),
      },
    });
    if (reply !== undefined) onBegun(reply.runExperiment.id);
  };
  const count = (label: string, place: string, value: string, onChange: (value: string) => void, hint?: string) => (
    <Field label={label} error={findFault(begin.error, place)} {...(hint === undefined ? {} : { hint })}>
      {(control) => (
        <TextInput
          {...control}
          type="number"
          min={0}
          step="any"
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
  const pick = (label: string, value: string, onPick: (name: string) => void, none?: string) => (
    <Field label={label} error={findFault(begin.error, 'input.versions')}>
      {(control) => (
        <Select {...control} value={value} onChange={(event) => onPick(event.target.value)}>
          {none === undefined ? null : <option value="">{none}</option>}
          {names.map((name) => (
            <option key={name} value={name}>
              {versionTitle(t, name)}
            </option>
          ))}
        </Select>
      )}
    </Field>
  );
  return (
    <PartDialog
      title={t('New experiment')}
      isDirty={false}
      isBusy={begin.isBusy}
      error={errorBeside(begin.error, places)}
      onClose={onClose}
      onSubmit={() => void submit()}
      action={t('Start')}
    >
      <Field label={t('Dataset')} error={findFault(begin.error, 'input.datasetId')}>
        {(control) => (
          <Select {...control} value={datasetId} onChange={(event) => setDataset(event.target.value)}>
            {page.datasets.nodes.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </Select>
        )}
      </Field>
      {pick(t('First version'), first, setFirst)}
      {pick(t('Compared with it'), second, setSecond, t('None'))}
      <Field label={t('Model')} error={findFault(begin.error, 'input.models')}>
        {(control) => (
          <Select {...control} value={modelId} onChange={(event) => setModel(event.target.value)}>
            <option value="">{t('The model of each version')}</option>
            {page.models.map(({ id }) => (
              <option key={id} value={id}>
                {id}
              </option>
            ))}
          </Select>
        )}
      </Field>
      {count(t('How often each question is asked'), 'input.repeats', repeats, setRepeats, t('From 1 to 5.'))}
      {count(
        t('Tokens that it may use'),
        'input.tokensMax',
        tokensMax,
        setTokensMax,
        t('It stops before it uses more. They are charged to you.'),
      )}
      {count(
        t('What it may cost, in {currency}', { currency: page.viewer.costCurrency }),
        'input.costMax',
        costMax,
        setCostMax,
        t('Empty: no bound besides the tokens.'),
      )}
    </PartDialog>
  );
}
