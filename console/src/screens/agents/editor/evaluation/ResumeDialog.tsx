import { useState } from 'react';
import { useMutate } from '../../../../graphql/hooks.ts';
import { useText } from '../../../../text/text.ts';
import { formatCost } from '../../../../ui/cost.ts';
import { errorBeside, findFault } from '../../../../ui/form/faults/find.ts';
import { TextField } from '../../../../ui/form/fields.tsx';
import { PartDialog } from '../parts/PartDialog.tsx';
import { type ExperimentRowFragment, ResumeExperimentDocument } from './documents.ts';

interface Props {
  readonly experiment: ExperimentRowFragment;
  readonly currency: string;
  readonly onClose: () => void;
  readonly onResumed: (experiment: ExperimentRowFragment) => void;
}

/** More tokens and money for an experiment that ended before all was asked. Both count from its beginning. */
export function ResumeDialog({ experiment, currency, onClose, onResumed }: Props) {
  const { t, number } = useText();
  const resume = useMutate(ResumeExperimentDocument);
  const { id, tokens, cost } = experiment;
  const [tokensMax, setTokensMax] = useState(String(experiment.tokensMax));
  const [costMax, setCostMax] = useState(String(experiment.costMax ?? ''));
  const { error } = resume;
  const submit = async () => {
    const budget = { tokensMax: Number(tokensMax), costMax: costMax.trim() === '' ? null : Number(costMax) };
    const reply = await resume.run({ id, ...budget });
    if (reply !== undefined) onResumed(reply.resumeExperiment);
  };
  return (
    <PartDialog
      title={t('Go on with the experiment')}
      isDirty={false}
      isBusy={resume.isBusy}
      error={errorBeside(error, ['tokensMax', 'costMax'])}
      onClose={onClose}
      onSubmit={() => void submit()}
      action={t('Go on')}
    >
      <p>{t('What was not asked is asked now. Answers that are there stay: no question is asked twice.')}</p>
      <TextField
        label={t('Tokens that it may use')}
        error={findFault(error, 'tokensMax')}
        hint={t('In all. It has used {tokens}.', { tokens: number(tokens) })}
        type="number"
        min={0}
        value={tokensMax}
        onChange={setTokensMax}
      />
      <TextField
        label={t('What it may cost, in {currency}', { currency })}
        error={findFault(error, 'costMax')}
        hint={t('In all. It has cost {cost}. Empty: as before.', { cost: formatCost(cost, currency, number) })}
        type="number"
        min={0}
        step="any"
        value={costMax}
        onChange={setCostMax}
      />
    </PartDialog>
  );
}
