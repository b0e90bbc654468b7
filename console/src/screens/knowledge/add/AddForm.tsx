import type { ParleyError } from '@parley/client';
import type { FormEvent, ReactNode } from 'react';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { readableError, run } from '../../../graphql/client.ts';
import { addToDraft } from '../../../parts/drafts/change.ts';
import { useText } from '../../../text/text.ts';
import { ErrorNote } from '../../../ui/feedback.tsx';
import { Button } from '../../../ui/form/button.tsx';
import { SelectField } from '../../../ui/form/fields.tsx';
import { useToast } from '../../../ui/overlay/toasts.tsx';
import { type AddDataSourceInput, AddSourceDocument, type RefreshPeriod } from '../documents.ts';
import { useWords } from '../words.ts';
import { type ChosenAgent, getAgentId } from './AgentPicker.tsx';
import styles from './add.module.css';

/** What each form that adds knowledge gets. */
export interface AddFormProps {
  /** The agent that the address names. */
  readonly agentId: string | undefined;
  readonly onClose: () => void;
}

/** The fields of one way to add, with the buttons under them. */
export function AddForm({
  children,
  error,
  isBusy,
  isReady,
  onSubmit,
  onClose,
}: {
  readonly children: ReactNode;
  readonly error: ParleyError | undefined;
  readonly isBusy: boolean;
  readonly isReady: boolean;
  readonly onSubmit: () => void;
  readonly onClose: () => void;
}) {
  const { t } = useText();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSubmit();
  };
  return (
    <form className={styles.form} onSubmit={submit} noValidate>
      {children}
      <ErrorNote error={error} />
      <footer className={styles.foot}>
        <Button onClick={onClose}>{t('Cancel')}</Button>
        <Button type="submit" variant="primary" isBusy={isBusy} disabled={!isReady}>
          {t('Add')}
        </Button>
      </footer>
    </form>
  );
}

/** Sends what a form adds, and leads to it. */
export function useAddSource(onClose: () => void) {
  const { t } = useText();
  const say = useToast();
  const [, go] = useLocation();
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<ParleyError>();
  /** @returns whether it was added. */
  const add = async (work: () => Promise<string | undefined>): Promise<boolean> => {
    setBusy(true);
    setError(undefined);
    try {
      const sourceId = await work();
      onClose();
      if (sourceId !== undefined) go(`/knowledge/${sourceId}`);
      return true;
    } catch (cause) {
      setError(readableError(cause));
      return false;
    } finally {
      setBusy(false);
    }
  };
  const addSource = (agent: ChosenAgent, input: AddDataSourceInput) =>
    add(async () => {
      const agentId = (await getAgentId(agent)) ?? '';
      const send = (expectedDraft: number) => run(AddSourceDocument, { agentId, input, expectedDraft });
      const { dataSources } = (await addToDraft(agentId, send)).addDataSource;
      const [first] = dataSources;
      for (const { message } of dataSources.flatMap(({ warnings }) => warnings)) say(message, 'warn');
      if (dataSources.length < 2) return first?.id;
      say(t('{count} sources are added', { count: dataSources.length }));
      return undefined;
    });
  return { add, addSource, isBusy, error };
}

/** How often a source is read again. */
export function PeriodField({
  value,
  onChange,
}: {
  readonly value: RefreshPeriod;
  readonly onChange: (period: RefreshPeriod) => void;
}) {
  const { t } = useText();
  const { periods } = useWords();
  return (
    <SelectField
      label={t('Read again')}
      value={value}
      onChange={(value) => onChange(value as RefreshPeriod)}
      options={(Object.keys(periods) as RefreshPeriod[]).map((period) => ({ value: period, label: periods[period] }))}
    />
  );
}
