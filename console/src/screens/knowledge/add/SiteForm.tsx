import { useState } from 'react';
import { useText } from '../../../text/text.ts';
import { findFault } from '../../../ui/form/faults/find.ts';
import { Checkbox, type FieldError } from '../../../ui/form/field.tsx';
import { TextAreaField, TextField } from '../../../ui/form/fields.tsx';
import type { RefreshPeriod, WebUrlFileType } from '../documents.ts';
import type { AddFormProps } from './AddForm.tsx';
import { AddForm, PeriodField, useAddSource } from './AddForm.tsx';
import { useAgentChoice } from './AgentPicker.tsx';
import styles from './add.module.css';

const fileTypes: readonly WebUrlFileType[] = ['PDF', 'DOC', 'XLS', 'CSV', 'MARKDOWN', 'TEXT'];

/** Adds a web site from one address on. */
export function SiteForm({ agentId, onClose }: AddFormProps) {
  const { t } = useText();
  const [url, setUrl] = useState('');
  const [maxPages, setMaxPages] = useState('100');
  const [minutes, setMinutes] = useState('60');
  const [include, setInclude] = useState('');
  const [exclude, setExclude] = useState('');
  const [withFiles, setWithFiles] = useState(true);
  const [refreshPeriod, setRefreshPeriod] = useState<RefreshPeriod>('WEEKLY');
  const { picker, agent, isReady } = useAgentChoice(agentId, false);
  const { addSource, isBusy, error } = useAddSource(onClose);
  const address = /^https?:\/\//i.test(url.trim()) || url.trim() === '' ? url.trim() : `https://${url.trim()}`;
  const send = () => {
    const includeUrlGlobs = splitLines(include);
    return addSource(agent, {
      webUrl: {
        url: address,
        maxPages: Number(maxPages),
        timeoutSeconds: Math.round(Number(minutes) * 60),
        includeFiles: withFiles,
        includedFileTypes: withFiles ? [...fileTypes] : [],
        includeUrlGlobs: includeUrlGlobs.length === 0 ? null : includeUrlGlobs,
        excludeUrlGlobs: splitLines(exclude),
        refreshPeriod,
      },
    });
  };
  const faults = ['url', 'maxPages', 'timeoutSeconds', 'includeUrlGlobs', 'excludeUrlGlobs'].map((member) =>
    findFault(error, member),
  );
  const isBeside = faults.some((fault) => fault !== undefined);
  return (
    <AddForm
      error={isBeside ? undefined : error}
      isBusy={isBusy}
      isReady={url.trim() !== '' && isReady}
      onSubmit={() => void send()}
      onClose={onClose}
    >
      <TextField
        label={t('Address')}
        hint={t('Reading begins there, and goes to the pages below it.')}
        error={faults[0]}
        type="url"
        inputMode="url"
        placeholder="https://example.com/docs/"
        value={url}
        onChange={setUrl}
      />
      <div className={styles.pair}>
        <NumberField label={t('Page limit')} error={faults[1]} max={10_000} value={maxPages} onChange={setMaxPages} />
        <NumberField label={t('Time limit in minutes')} error={faults[2]} max={1_440} value={minutes} onChange={setMinutes} />
        <PeriodField value={refreshPeriod} onChange={setRefreshPeriod} />
      </div>
      <Checkbox
        label={t('Documents that pages link to, too')}
        hint={t('PDF, Word, Excel, CSV, Markdown and text')}
        checked={withFiles}
        onChange={({ target }) => setWithFiles(target.checked)}
      />
      <details className={styles.details}>
        <summary>{t('Which pages')}</summary>
        <GlobsField
          label={t('Only addresses like these')}
          hint={t('One per line; * stands for a part of an address, ** for any.')}
          placeholder="https://example.com/docs/**"
          error={faults[3]}
          value={include}
          onChange={setInclude}
        />
        <GlobsField label={t('But none like these')} error={faults[4]} value={exclude} onChange={setExclude} />
      </details>
      {picker}
    </AddForm>
  );
}

interface TextFieldProps {
  readonly label: string;
  readonly error: FieldError;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function NumberField({ label, error, value, onChange, max }: TextFieldProps & { readonly max: number }) {
  return <TextField label={label} error={error} type="number" min={1} max={max} value={value} onChange={onChange} />;
}

/** Patterns of addresses, one a line. */
function GlobsField({
  label,
  hint,
  placeholder,
  error,
  value,
  onChange,
}: TextFieldProps & { readonly hint?: string; readonly placeholder?: string }) {
  return (
    <TextAreaField label={label} hint={hint} error={error} rows={2} placeholder={placeholder} value={value} onChange={onChange} />
  );
}

function splitLines(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
