import { type FormEvent, useState } from 'react';
import { useMutate, usePage } from '../../graphql/hooks.ts';
import { useText } from '../../text/text.ts';
import { ErrorNote, Note } from '../../ui/feedback.tsx';
import { Button } from '../../ui/form/button.tsx';
import { errorBeside, findFault } from '../../ui/form/faults/find.ts';
import type { FieldError } from '../../ui/form/field.tsx';
import { SelectField, TextField } from '../../ui/form/fields.tsx';
import { Dialog } from '../../ui/overlay/dialog.tsx';
import { CodeBox } from '../../ui/small.tsx';
import { type ChatShareAudience, ChatSharesDocument, ShareChatDocument } from './documents.ts';
import { ShareRows } from './ShareRows.tsx';
import styles from './shares.module.css';

const dayMs = 86_400_000;
const places = ['mode', 'audience', 'emails', 'expiresAt'];

/** Makes links to a chat, and lists those that there are. */
export function ShareDialog({ chatId, onClose }: { readonly chatId: string; readonly onClose: () => void }) {
  const { t } = useText();
  const { data, error, reload } = usePage(ChatSharesDocument, { chatId });
  const shares = data?.chatShares.nodes ?? [];
  return (
    <Dialog title={t('Share this chat')} isOpen onClose={onClose}>
      <div className={styles.stack}>
        <NewShare chatId={chatId} allowsAnyone={data?.viewer.mayShareWithAnyone === true} onMade={reload} />
        <ErrorNote error={error} onRetry={reload} />
        {shares.length === 0 ? null : (
          <>
            <h3>{t('Links to this chat')}</h3>
            <ShareRows shares={shares} onChanged={reload} />
          </>
        )}
      </div>
    </Dialog>
  );
}

type Life = '' | '1' | '7' | '30';

const firstFields = { audience: 'ORGANIZATION' as ChatShareAudience, emails: '', isGrowing: false, days: '' as Life };
type Fields = typeof firstFields;

function toInput({ audience, emails, isGrowing, days }: Fields) {
  return {
    ...{ mode: isGrowing ? ('GROWING' as const) : ('FROZEN' as const), audience },
    emails: audience === 'PEOPLE' ? emails.split(/[\s,;]+/).filter((email) => email !== '') : null,
    expiresAt: days === '' ? null : new Date(Date.now() + Number(days) * dayMs).toISOString(),
  };
}

function NewShare({
  chatId,
  allowsAnyone,
  onMade,
}: {
  readonly chatId: string;
  readonly allowsAnyone: boolean;
  readonly onMade: () => void;
}) {
  const { t } = useText();
  const [fields, setFields] = useState(firstFields);
  const [url, setUrl] = useState<string>();
  const { run: share, isBusy, error } = useMutate(ShareChatDocument);
  const make = async (event: FormEvent) => {
    event.preventDefault();
    const result = await share({ chatId, input: toInput(fields) });
    if (result === undefined) return;
    setUrl(result.shareChat.url);
    onMade();
  };
  const wrongEmails = findFault(error, 'emails');
  const change = (members: Partial<Fields>) => setFields({ ...fields, ...members });
  return (
    <form className={styles.stack} onSubmit={(event) => void make(event)} noValidate>
      <AudienceFields fields={fields} allowsAnyone={allowsAnyone} wrongEmails={wrongEmails} onChange={change} />
      <SelectField
        label={t('What they see')}
        hint={t('The branch that you read now. What you say later is in it only while it grows.')}
        value={fields.isGrowing ? 'GROWING' : 'FROZEN'}
        onChange={(mode) => change({ isGrowing: mode === 'GROWING' })}
        options={[
          { value: 'FROZEN', label: t('The chat as it is now') },
          { value: 'GROWING', label: t('The chat as it grows') },
        ]}
      />
      <SelectField
        label={t('When it ends')}
        value={fields.days}
        onChange={(days) => change({ days })}
        options={[
          { value: '', label: t('When I revoke it') },
          { value: '1', label: t('In a day') },
          { value: '7', label: t('In a week') },
          { value: '30', label: t('In a month') },
        ]}
      />
      <AudienceNote audience={fields.audience} />
      <ErrorNote error={errorBeside(error, wrongEmails === undefined ? [] : places)} />
      <div>
        <Button type="submit" variant="primary" isBusy={isBusy}>
          {t('Make a link')}
        </Button>
      </div>
      {url === undefined ? null : (
        <>
          <Note tone="good">{t('The link is made. Copy it now: it is shown once.')}</Note>
          <CodeBox text={url} label={t('Link to the chat')} />
        </>
      )}
    </form>
  );
}

function AudienceFields({
  fields: { audience, emails },
  allowsAnyone,
  wrongEmails,
  onChange,
}: {
  readonly fields: Fields;
  readonly allowsAnyone: boolean;
  readonly wrongEmails: FieldError;
  readonly onChange: (members: Partial<Fields>) => void;
}) {
  const { t } = useText();
  return (
    <>
      <SelectField
        label={t('Who may open it')}
        value={audience}
        onChange={(chosen) => onChange({ audience: chosen })}
        options={[
          { value: 'ORGANIZATION', label: t('Everybody in the organization') },
          { value: 'PEOPLE', label: t('People I name') },
          ...(allowsAnyone ? [{ value: 'ANYONE' as const, label: t('Anyone with the link') }] : []),
        ]}
      />
      {audience === 'PEOPLE' ? (
        <TextField
          label={t('Their e-mail addresses')}
          hint={t('Members of the organization, separated by commas.')}
          error={wrongEmails}
          value={emails}
          onChange={(typed) => onChange({ emails: typed })}
        />
      ) : null}
    </>
  );
}

function AudienceNote({ audience }: { readonly audience: ChatShareAudience }) {
  const { t } = useText();
  if (audience === 'ANYONE') {
    return <Note tone="warn">{t('Anyone with the link can read the chat and its files, without signing in.')}</Note>;
  }
  return (
    <p className={styles.quiet}>
      {t(
        'They see what was said, and files. Sources that they may not open are hidden from them; instructions and steps are from everybody.',
      )}
    </p>
  );
}
