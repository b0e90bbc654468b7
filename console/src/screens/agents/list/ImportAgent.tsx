import type { ParleyError } from '@parley/client';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { useMutate } from '../../../graphql/hooks.ts';
import { useText } from '../../../text/text.ts';
import { ErrorNote, Note } from '../../../ui/feedback.tsx';
import { Button } from '../../../ui/form/button.tsx';
import { errorBeside, findFault } from '../../../ui/form/faults/find.ts';
import { Field } from '../../../ui/form/field.tsx';
import { TextField } from '../../../ui/form/fields.tsx';
import { Dialog } from '../../../ui/overlay/dialog.tsx';
import { useToast } from '../../../ui/overlay/toasts.tsx';
import { type AgentFile, readAgentFile } from './agent-file.ts';
import { ImportAgentDocument } from './documents.ts';
import styles from './list.module.css';

/** Makes an agent from a file: what differs here is shown first, then nothing or all of it is made. */
export function ImportAgent({ onClose }: { readonly onClose: () => void }) {
  const { t } = useText();
  const toast = useToast();
  const [, go] = useLocation();
  const [file, setFile] = useState<AgentFile>();
  const [fault, setFault] = useState<string>();
  const [name, setName] = useState('');
  const [secrets, setSecrets] = useState<Readonly<Record<string, string>>>({});
  const [warnings, setWarnings] = useState<readonly string[]>();
  const send = useMutate(ImportAgentDocument);
  const toInput = ({ bundle }: AgentFile, values: Readonly<Record<string, string>>) => ({
    bundle,
    ...(name.trim() === '' ? {} : { name }),
    secrets: Object.entries(values).flatMap(([key, value]) => (value === '' ? [] : [{ name: key, value }])),
  });
  const check = async (agentFile: AgentFile, values = secrets) => {
    const checked = await send.run({ input: toInput(agentFile, values), dryRun: true });
    setWarnings(checked?.importAgent.warnings);
  };
  const choose = async (upload: File | undefined) => {
    if (upload === undefined) return;
    send.reset();
    setWarnings(undefined);
    setSecrets({});
    const agentFile = readAgentFile(await upload.text());
    setFile(agentFile);
    setFault(agentFile === undefined ? t('This is no file of an agent: it holds no JSON object.') : undefined);
    if (agentFile === undefined) return;
    setName(agentFile.name);
    await check(agentFile, {});
  };
  const submit = async () => {
    if (file === undefined) return;
    const result = await send.run({ input: toInput(file, secrets), dryRun: false });
    if (result === undefined || result.importAgent.agentId === null) return;
    toast(t('{name} is imported.', { name: result.importAgent.agent?.name ?? name }));
    go(`/agents/${result.importAgent.agentId}`);
  };
  const fieldPaths = ['input.name', ...Object.keys(secrets).map((_, index) => `input.secrets.${index}`)];
  return (
    <Dialog
      title={t('Import an agent')}
      isOpen
      onClose={onClose}
      onSubmit={() => void submit()}
      actions={
        <>
          <Button onClick={onClose}>{t('Cancel')}</Button>
          {file === undefined ? null : (
            <Button isBusy={send.isBusy} onClick={() => void check(file)}>
              {t('Check again')}
            </Button>
          )}
          <Button type="submit" variant="primary" disabled={warnings === undefined} isBusy={send.isBusy}>
            {t('Import')}
          </Button>
        </>
      }
    >
      <FileField fault={fault} onChoose={(upload) => void choose(upload)} />
      {file === undefined ? null : (
        <>
          <TextField
            label={t('Name')}
            error={findFault(send.error, 'input.name')}
            value={name}
            maxLength={200}
            onChange={setName}
          />
          <SecretFields file={file} secrets={secrets} error={send.error} onChange={setSecrets} />
        </>
      )}
      {warnings === undefined ? null : <Differences warnings={warnings} />}
      <ErrorNote error={errorBeside(send.error, fieldPaths)} />
    </Dialog>
  );
}

function FileField({
  fault,
  onChoose,
}: {
  readonly fault: string | undefined;
  readonly onChoose: (upload: File | undefined) => void;
}) {
  const { t } = useText();
  return (
    <Field label={t('File')} hint={t('As “Export as a file” gives it, from here or from another installation.')} error={fault}>
      {(control) => (
        <input {...control} type="file" accept=".json,application/json" onChange={(event) => onChoose(event.target.files?.[0])} />
      )}
    </Field>
  );
}

function SecretFields({
  file,
  secrets,
  error,
  onChange,
}: {
  readonly file: AgentFile;
  readonly secrets: Readonly<Record<string, string>>;
  readonly error: ParleyError | undefined;
  readonly onChange: (secrets: Readonly<Record<string, string>>) => void;
}) {
  const { t } = useText();
  return file.secrets.map(({ key, description }, index) => (
    <TextField
      key={key}
      label={t('Secret {key}', { key })}
      hint={description === '' ? t('The file holds no secrets. Without a value, tools that need it fail.') : description}
      error={findFault(error, `input.secrets.${index}`)}
      type="password"
      autoComplete="off"
      value={secrets[key] ?? ''}
      onChange={(value) => onChange({ ...secrets, [key]: value })}
    />
  ));
}

/** What the agent will lack here. */
function Differences({ warnings }: { readonly warnings: readonly string[] }) {
  const { t } = useText();
  return warnings.length === 0 ? (
    <Note tone="good">{t('Checked: the agent will be as it was.')}</Note>
  ) : (
    <Note tone="warn">
      <p>{t('Checked. What will not be as it was:')}</p>
      <ul className={styles.warnings}>
        {warnings.map((warning) => (
          <li key={warning}>{warning}</li>
        ))}
      </ul>
    </Note>
  );
}
