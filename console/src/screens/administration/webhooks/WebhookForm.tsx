import { useState } from 'react';
import { useMutate } from '../../../graphql/hooks.ts';
import styles from '../../../parts/people/people.module.css';
import { type Text, useText } from '../../../text/text.ts';
import { ErrorNote } from '../../../ui/feedback.tsx';
import { errorBeside, findFault } from '../../../ui/form/faults/find.ts';
import { Checkbox } from '../../../ui/form/field.tsx';
import { TextField } from '../../../ui/form/fields.tsx';
import { FormDialog } from '../../../ui/overlay/form-dialog.tsx';
import { CreateWebhookDocument, type WebhookRowFragment } from './documents.ts';

type WebhookEvent = WebhookRowFragment['events'][number];

const events: readonly WebhookEvent[] = [
  ...(['RUN_ENDED', 'SOURCE_FAILED', 'APPROVAL_WANTED', 'LIMIT_NEAR', 'BUDGET_REACHED', 'SCHEDULE_ENDED'] as const),
];

/** What a webhook can tell. */
export const eventWords = (t: Text['t']): Readonly<Record<WebhookEvent, string>> => ({
  RUN_ENDED: t('A run ended'),
  SOURCE_FAILED: t('A knowledge source failed'),
  APPROVAL_WANTED: t('An approval is wanted'),
  LIMIT_NEAR: t('A limit of tokens is near'),
  BUDGET_REACHED: t('A budget is nearly used, or used up'),
  SCHEDULE_ENDED: t('A schedule answered'),
});

/** Makes a webhook. */
export function WebhookForm({ onClose, onMade }: { readonly onClose: () => void; readonly onMade: (secret: string) => void }) {
  const { t } = useText();
  const [url, setUrl] = useState('');
  const [description, setDescription] = useState('');
  const [chosen, setChosen] = useState<readonly WebhookEvent[]>(['RUN_ENDED']);
  const { run, isBusy, error } = useMutate(CreateWebhookDocument);
  const save = async () => {
    const webhook = await run({ input: { url: url.trim(), description: description.trim(), events: [...chosen] } });
    if (webhook !== undefined) onMade(webhook.createWebhook.secret);
  };
  return (
    <FormDialog
      title={t('New webhook')}
      onClose={onClose}
      onSubmit={() => void save()}
      action={t('Make the webhook')}
      isBusy={isBusy}
      isBlocked={url.trim() === '' || chosen.length === 0}
    >
      <TextField label={t('Address')} error={findFault(error, 'url')} type="url" value={url} onChange={setUrl} />
      <TextField
        label={t('What it is for')}
        error={findFault(error, 'description')}
        value={description}
        onChange={setDescription}
      />
      <fieldset className={styles.options}>
        <legend>{t('What it is told')}</legend>
        {events.map((event) => (
          <Checkbox
            key={event}
            label={eventWords(t)[event]}
            checked={chosen.includes(event)}
            onChange={({ target }) => setChosen(target.checked ? [...chosen, event] : chosen.filter((each) => each !== event))}
          />
        ))}
      </fieldset>
      <ErrorNote error={errorBeside(error, ['url', 'description'])} />
    </FormDialog>
  );
}
