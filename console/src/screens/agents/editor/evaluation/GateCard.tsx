import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { useMutate } from '../../../../graphql/hooks.ts';
import { isSame } from '../../../../parts/drafts/merge.ts';
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

/** What a draft must pass before it is published. */
export function GateCard({ agent, page, isReadOnly, onChange }: Props) {
  const { agentGate: gate } = page;
  const { t } = useText();
  return (
    <Section
      title={t('Gate')}
      lead={t(
        'Rules that a draft must keep before it is published. Its owner may override them with a reason. Changes by REST take effect at once, without being asked.',
      )}
    >
      {gate === null ? (
        <p className={styles.quiet}>{t('Drafts are published without being asked.')}</p>
      ) : (
        <>
          <GateRules gate={gate} />
          <GateReport agentId={agent.id} report={gate.report} />
        </>
      )}
      <GateActs agent={agent} page={page} isReadOnly={isReadOnly} onChange={onChange} />
    </Section>
  );
}

type Gate = NonNullable<EvaluationQuery['agentGate']>;

function GateRules({ gate: { mustTag, rateDropMax, costRatioMax } }: { readonly gate: Gate }) {
  const { t } = useText();
  return (
    <ul>
      {mustTag === null ? null : <li>{t('No case with the label {tag} fails.', { tag: mustTag })}</li>}
      {rateDropMax === null ? null : (
        <li>{t('The rate is at most {points} points below the published version’s.', { points: rateDropMax })}</li>
      )}
      {costRatioMax === null ? null : <li>{t('It costs at most {ratio} times as much.', { ratio: costRatioMax })}</li>}
    </ul>
  );
}

const tones = { PASSED: 'good', REFUSED: 'bad', RUNNING: 'accent', NOT_ASKED: 'neutral' } as const;

/** Whether the draft passes, and why not. */
function GateReport({
  agentId,
  report: { verdict, reasons, experimentId },
}: {
  readonly agentId: string;
  readonly report: Gate['report'];
}) {
  const { t } = useText();
  const words = {
    PASSED: t('The draft may be published.'),
    REFUSED: t('The draft may not be published.'),
    RUNNING: t('The draft is being asked.'),
    NOT_ASKED: t('The draft was not asked yet. Publishing asks it.'),
  };
  return (
    <Note tone={tones[verdict]}>
      <p>{words[verdict]}</p>
      {reasons.map((reason) => (
        <p key={reason}>{reason}</p>
      ))}
      {experimentId === null ? null : (
        <Link className={styles.noteLink} href={evaluationAddress(agentId, experimentId)}>
          {t('The answers')}
        </Link>
      )}
    </Note>
  );
}

/** Asks the draft, and sets up, changes or removes the gate. */
function GateActs({ agent, page, isReadOnly, onChange }: Props) {
  const { t } = useText();
  const [, go] = useLocation();
  const [isOpen, setOpen] = useState(false);
  const remove = useMutate(RemoveGateDocument);
  const check = useMutate(CheckGateDocument);
  const hasGate = page.agentGate !== null;
  const mayManage = !isReadOnly && agent.canManage;
  const askDraft = async () => {
    const reply = await check.run({ agentId: agent.id });
    if (reply !== undefined) go(evaluationAddress(agent.id, reply.checkAgentGate.id));
  };
  const removeGate = async () => {
    if ((await remove.run({ agentId: agent.id })) !== undefined) onChange();
  };
  return (
    <>
      <div className={styles.acts}>
        {!hasGate || isReadOnly || agent.draft?.isChanged !== true ? null : (
          <Button isBusy={check.isBusy} onClick={() => void askDraft()}>
            {t('Ask the draft now')}
          </Button>
        )}
        {mayManage ? <Button onClick={() => setOpen(true)}>{hasGate ? t('Change the gate') : t('Set up a gate')}</Button> : null}
        {mayManage && hasGate ? (
          <Button isBusy={remove.isBusy} onClick={() => void removeGate()}>
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
    </>
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
  const [start] = useState(() => readGate(gate, datasets[0]?.id));
  const [fields, setFields] = useState(start);
  const change = (members: Partial<typeof start>) => setFields({ ...fields, ...members });
  const submit = async () => {
    const reply = await set.run({ agentId: agent.id, input: toGateInput(fields) });
    if (reply !== undefined) onDone();
  };
  const line = (label: string, name: 'mustTag' | 'rateDropMax' | 'costRatioMax' | 'tokensMax', type: 'text' | 'number') => (
    <TextField
      label={label}
      error={findFault(set.error, `input.${name}`)}
      type={type}
      step="any"
      min={0}
      value={fields[name]}
      onChange={(value) => change({ [name]: value })}
    />
  );
  return (
    <PartDialog
      title={t('Gate')}
      size="wide"
      isDirty={!isSame(fields, start)}
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
        value={fields.datasetId}
        onChange={(datasetId) => change({ datasetId })}
        options={datasets.map(({ id, name }) => ({ value: id, label: name }))}
      />
      {line(t('No case with this label fails'), 'mustTag', 'text')}
      {line(t('Points that the rate may fall'), 'rateDropMax', 'number')}
      {line(t('How many times as much it may cost'), 'costRatioMax', 'number')}
      {line(t('Tokens that it may use'), 'tokensMax', 'number')}
      <ScorerList
        scorers={fields.scorers}
        models={page.models}
        currency={page.viewer.costCurrency}
        error={set.error}
        onChange={(scorers) => change({ scorers })}
      />
    </PartDialog>
  );
}

/** A gate as its form has it. A new one begins with a rule that most want. */
function readGate(gate: Gate | null, firstDatasetId: string | undefined) {
  return {
    datasetId: gate?.datasetId ?? firstDatasetId ?? '',
    mustTag: gate?.mustTag ?? '',
    rateDropMax: String(gate === null ? 2 : (gate.rateDropMax ?? '')),
    costRatioMax: String(gate?.costRatioMax ?? ''),
    tokensMax: String(gate?.tokensMax ?? tokensDefault),
    scorers: gate === null ? defaultScorers : readScorers(gate.scorers),
  };
}

function toGateInput(fields: ReturnType<typeof readGate>) {
  const orNull = (text: string) => (text === '' ? null : Number(text));
  return {
    datasetId: fields.datasetId,
    mustTag: fields.mustTag === '' ? null : fields.mustTag,
    rateDropMax: orNull(fields.rateDropMax),
    costRatioMax: orNull(fields.costRatioMax),
    tokensMax: Number(fields.tokensMax),
    scorers: fields.scorers.length === 0 ? null : fields.scorers.map(toScorerInput),
  };
}
