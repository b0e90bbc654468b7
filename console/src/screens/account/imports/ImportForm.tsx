import type { ParleyError } from '@parley/client';
import { useState } from 'react';
import { readableError, upload } from '../../../graphql/client.ts';
import { usePage } from '../../../graphql/hooks.ts';
import styles from '../../../parts/people/people.module.css';
import { useText } from '../../../text/text.ts';
import { ErrorNote } from '../../../ui/feedback.tsx';
import { Button } from '../../../ui/form/button.tsx';
import { errorBeside, findFault } from '../../../ui/form/faults/find.ts';
import { Field } from '../../../ui/form/field.tsx';
import { SelectField } from '../../../ui/form/fields.tsx';
import { useToast } from '../../../ui/overlay/toasts.tsx';
import { Section } from '../../../ui/page.tsx';
import { Progress } from '../../../ui/progress.tsx';
import { ImportAgentsDocument, ImportChatsDocument } from './documents.ts';
import own from './imports.module.css';

/** Which file, and which agent answers in its chats from then on. */
export function ImportForm({ onBegun }: { readonly onBegun: () => void }) {
  const { t } = useText();
  const agents = usePage(ImportAgentsDocument, {});
  const [chosenAgentId, setChosenAgentId] = useState<string>();
  const [file, setFile] = useState<File>();
  // A file input is emptied by a new one in its place.
  const [formKey, setFormKey] = useState(0);
  const choices = agents.data?.viewer.agents?.nodes ?? [];
  const agentId = chosenAgentId ?? choices[0]?.id;
  const { send, percent, error } = useImport();
  const isBusy = percent !== undefined;
  const begin = async () => {
    if (file === undefined || agentId === undefined || !(await send(file, agentId))) return;
    setFile(undefined);
    setFormKey((key) => key + 1);
    onBegun();
  };
  return (
    <Section title={t('Choose a file')}>
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          void begin();
        }}
      >
        <Field
          label={t('Exported file')}
          hint={t('A ZIP or JSON file as the other product gave it to you. Importing the same file again brings no chat twice.')}
          error={findFault(error, 'file')}
        >
          {(control) => (
            <input
              {...control}
              key={formKey}
              className={own.file}
              type="file"
              accept=".zip,.json,application/zip,application/json"
              onChange={(event) => setFile(event.target.files?.[0])}
            />
          )}
        </Field>
        <SelectField
          label={t('Who answers from now on')}
          hint={t('You can go on with every imported chat. This agent gets what was said before.')}
          error={findFault(error, 'agentId')}
          value={agentId ?? ''}
          onChange={setChosenAgentId}
          options={choices.map(({ id, name }) => ({ value: id, label: name }))}
        />
        <ErrorNote error={agents.error ?? errorBeside(error, ['file', 'agentId'])} />
        {isBusy ? <Progress percent={percent} label={t('Sending the file')} /> : null}
        <div>
          <Button variant="primary" type="submit" isBusy={isBusy} disabled={file === undefined || agentId === undefined}>
            {t('Import')}
          </Button>
        </div>
      </form>
      <WhereToGetIt />
    </Section>
  );
}

/** Sends a file. `percent` is how far it is while it is on its way. */
function useImport() {
  const { t } = useText();
  const say = useToast();
  const [percent, setPercent] = useState<number>();
  const [error, setError] = useState<ParleyError>();
  /** @returns whether the service has begun to import it. */
  const send = async (file: File, agentId: string): Promise<boolean> => {
    setError(undefined);
    setPercent(0);
    try {
      const onProgress = ({ sentBytes }: { readonly sentBytes: number }) =>
        setPercent(Math.min(100, Math.round((sentBytes / Math.max(1, file.size)) * 100)));
      await upload(ImportChatsDocument, { file, agentId }, { onProgress });
      say(t('The import has begun.'));
      return true;
    } catch (cause) {
      setError(readableError(cause));
      return false;
    } finally {
      setPercent(undefined);
    }
  };
  return { send, percent, error };
}

function WhereToGetIt() {
  const { t } = useText();
  return (
    <details className={own.help}>
      <summary>{t('Where do I get the file?')}</summary>
      <dl>
        <dt>ChatGPT</dt>
        <dd>{t('Settings, Data controls, Export data. The ZIP comes by e-mail.')}</dd>
        <dt>Claude</dt>
        <dd>{t('Settings, Privacy, Export data. The ZIP comes by e-mail.')}</dd>
        <dt>LibreChat</dt>
        <dd>{t('The menu of a conversation, Export, as JSON with all branches. Several files can be packed into one ZIP.')}</dd>
        <dt>Open WebUI</dt>
        <dd>{t('Settings, Data Controls, Export Chats.')}</dd>
        <dt>Parley</dt>
        <dd>{t('The menu of a chat, Export as JSON.')}</dd>
      </dl>
    </details>
  );
}
