import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { useMutate } from '../../../../graphql/hooks.ts';
import { useText } from '../../../../text/text.ts';
import { ErrorNote, Note } from '../../../../ui/feedback.tsx';
import { Button } from '../../../../ui/form/button.tsx';
import { errorBeside, findFault } from '../../../../ui/form/faults/find.ts';
import { SelectField, TextField } from '../../../../ui/form/fields.tsx';
import { Section } from '../../../../ui/page.tsx';
import { PartDialog } from '../parts/PartDialog.tsx';
import type { EditorAgent } from '../section.ts';
import styles from '../versions/versions.module.css';
import { CheckGateDocument, type EvaluationQuery, RemoveGateDocument, SetGateDocument } from './documents.ts';
import { ScorerList } from './scorers/ScorerList.tsx';
import { defaultScorers, readScorers, toScorerInput } from './scorers/values.ts';
import { evaluationAddress } from './words.ts';

interface Props {
  readonly agent: EditorAgent;
  readonly page: EvaluationQuery;
  readonly isReadOnly: boolean;
  readonly onChange: () => void;
}

const tones = { PASSED: 'good', REFUSED: 'bad', RUNNING: 'accent', NOT_ASKED: 'neutral' } as const;

/** What a draft must pass before it is published. */
export function GateCard({ agent, page, isReadOnly, onChange }: Props) {
  const { agentGate: gate } = page;
  const { t } = useText();
  const [, go] = useLocation();
  const [isOpen, setOpen] = useState(false);
  const remove = useMutate(RemoveGateDocument);
  const check = useMutate(CheckGateDocument);
  const mayManage = !isReadOnly && agent.canManage;
  const words = {
    PASSED: t('The draft may be published.'),
    REFUSED: t('The draft may not be published.'),
    RUNNING: t('The draft is being asked.'),
    NOT_ASKED: t('The draft was not asked yet. Publishing asks it.'),
  };
  return (
    <Section
      title={t('Gate')}
      lead={t(
        'Rules that a draft must keep before it is published. Its owner may override them with a reason. Changes by REST take effect at once, without being asked.',
      )}
    >
      {gate === null ? <p className={styles.quiet}>{t('Drafts are published without being asked.')}</p> : null}
      {gate === null ? null : (
        <>
          <ul>
            {gate.mustTag === null ? null : <li>{t('No case with the label {tag} fails.', { tag: gate.mustTag })}</li>}
            {gate.rateDropMax === null ? null : (
              <li>{t('The rate is at most {points} points below the published version’s.', { points: gate.rateDropMax })}</li>
            )}
            {gate.costRatioMax === null ? null : (
              <li>{t('It costs at most {ratio} times as much.', { ratio: gate.costRatioMax })}</li>
            )}
          </ul>
          <Note tone={tones[gate.report.verdict]}>
            <p>{words[gate.report.verdict]}</p>
            {gate.report.reasons.map((reason) => (
              <p key={reason}>{reason}</p>
            ))}
            {gate.report.experimentId === null ? null : (
              <Link className={styles.noteLink} href={evaluationAddress(agent.id, gate.report.experimentId)}>
                {t('The answers')}
              </Link>
            )}
          </Note>
        </>
      )}
      <div className={styles.acts}>
        {gate === null || isReadOnly || agent.draft?.isChanged !== true ? null : (
          <Button
            isBusy={check.isBusy}
            onClick={() =>
              void check
                .run({ agentId: agent.id })
                .then((reply) => reply && go(evaluationAddress(agent.id, reply.checkAgentGate.id)))
            }
          >
            {t('Ask the draft now')}
          </Button>
        )}
        {mayManage ? (
          <Button onClick={() => setOpen(true)}>{gate === null ? t('Set up a gate') : t('Change the gate')}</Button>
        ) : null}
        {mayManage && gate !== null ? (
          <Button
            isBusy={remove.isBusy}
            onClick={() => void remove.run({ agentId: agent.id }).then((reply) => reply && onChange())}
          >
            {t('Remove the gate')}
          </Button>
        ) : null}
      </div>
      <ErrorNote error={remove.error ?? check.error} />
      {isOpen ? (
        <GateDialog
          agent={agent}
          page={page}
          onClose={() => setOpen(false)}
          onDone={() => {
            setOpen(false);
            onChange();
          }}
        />
      ) : null}
    </Section>
  );
}

const places = ['datasetId', 'mustTag', 'rateDropMax', 'costRatioMax', 'tokensMax', 'scorers'].map((name) => `input.${name}`);
const tokensDefault = 200_000;

function GateDialog({
  agent,
  page,
  onClose,
  onDone,
}: Pick<Props, 'agent' | 'page'> & { readonly onClose: () => void; readonly onDone: () => void }) {
  const { t } = useText();
  const { agentGate: gate } = page;
  const datasets = page.datasets.nodes;
  const set = useMutate(SetGateDocument);
  const [scorers, setScorers] = useState(gate === null ? defaultScorers : readScorers(gate.scorers));
  const [datasetId, setDataset] = useState(gate?.datasetId ?? datasets[0]?.id ?? '');
  const [mustTag, setMustTag] = useState(gate?.mustTag ?? '');
  const [rateDropMax, setRateDrop] = useState(String(gate === null ? 2 : (gate.rateDropMax ?? '')));
  const [costRatioMax, setCostRatio] = useState(String(gate?.costRatioMax ?? ''));
  const [tokensMax, setTokensMax] = useState(String(gate?.tokensMax ?? tokensDefault));
  const orNull = (text: string) => (text === '' ? null : Number(text));
  const submit = async () => {
    const input = {
      datasetId,
      mustTag: mustTag === '' ? null : mustTag,
      rateDropMax: orNull(rateDropMax),
      costRatioMax: orNull(costRatioMax),
      tokensMax: Number(tokensMax),
      scorers: scorers.length === 0 ? null : scorers.map(toScorerInput),
    };
    const reply = await set.run({ agentId: agent.id, input });
    if (reply !== undefined) onDone();
  };
  const field = (label: string, place: string, value: string, onChange: (value: string) => void, type: 'text' | 'number') => (
    <TextField
      label={label}
      error={findFault(set.error, place)}
      type={type}
      step="any"
      min={0}
      value={value}
      onChange={onChange}
    />
  );
  return (
    <PartDialog
      title={t('Gate')}
      size="wide"
      isDirty={false}
      isBusy={set.isBusy}
      error={errorBeside(set.error, places)}
      onClose={onClose}
      onSubmit={() => void submit()}
      action={t('Save')}
    >
      <p>{t('An empty rule does not count. At least one is needed.')}</p>
      <SelectField
        label={t('Dataset')}
        error={findFault(set.error, 'input.datasetId')}
        value={datasetId}
        onChange={setDataset}
        options={datasets.map(({ id, name }) => ({ value: id, label: name }))}
      />
      {field(t('No case with this label fails'), 'input.mustTag', mustTag, setMustTag, 'text')}
      {field(t('Points that the rate may fall'), 'input.rateDropMax', rateDropMax, setRateDrop, 'number')}
      {field(t('How many times as much it may cost'), 'input.costRatioMax', costRatioMax, setCostRatio, 'number')}
      {field(t('Tokens that it may use'), 'input.tokensMax', tokensMax, setTokensMax, 'number')}
      <ScorerList
        scorers={scorers}
        models={page.models}
        currency={page.viewer.costCurrency}
        error={set.error}
        onChange={setScorers}
      />
    </PartDialog>
  );
}
