import { type FormEvent, useState } from 'react';
import { useMutate, usePage } from '../../graphql/hooks.ts';
import { useText } from '../../text/text.ts';
import { ErrorNote, Note } from '../../ui/feedback.tsx';
import { Button } from '../../ui/form/button.tsx';
import { errorBeside, findFault } from '../../ui/form/faults/find.ts';
import { useFaultWords } from '../../ui/form/faults/words.ts';
import { SelectField, TextField } from '../../ui/form/fields.tsx';
import { Dialog } from '../../ui/overlay/dialog.tsx';
import { CodeBox } from '../../ui/small.tsx';
import { type ChatShareAudience, ChatSharesDocument, ShareChatDocument } from './documents.ts';
import { ShareRows } from './ShareRows.tsx';
import styles from './shares.module.css';

const dayMs = 86_400_000;
const lives = ['', '1', '7', '30'] as const;
const fields = ['mode', 'audience', 'emails', 'expiresAt'];

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
  const { describeFault } = useFaultWords();
  const [isGrowing, setGrowing] = useState(false);
  const [audience, setAudience] = useState<ChatShareAudience>('ORGANIZATION');
  const [emails, setEmails] = useState('');
  const [days, setDays] = useState<(typeof lives)[number]>('');
  const [url, setUrl] = useState<string>();
  const { run: share, isBusy, error } = useMutate(ShareChatDocument);
  const make = async (event: FormEvent) => {
    event.preventDefault();
    const names = emails.split(/[\s,;]+/).filter((email) => email !== '');
    const input = {
      ...{ mode: isGrowing ? ('GROWING' as const) : ('FROZEN' as const), audience },
      emails: audience === 'PEOPLE' ? names : null,
      expiresAt: days === '' ? null : new Date(Date.now() + Number(days) * dayMs).toISOString(),
    };
    const result = await share({ chatId, input });
    if (result === undefined) return;
    setUrl(result.shareChat.url);
    onMade();
  };
  const wrongEmails = findFault(error, 'emails');
  return (
    <form className={styles.stack} onSubmit={(event) => void make(event)} noValidate>
      <SelectField
        label={t('Who may open it')}
        value={audience}
        onChange={setAudience}
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
          error={wrongEmails === undefined ? undefined : describeFault(wrongEmails)}
          value={emails}
          onChange={setEmails}
        />
      ) : null}
      <SelectField
        label={t('What they see')}
        hint={t('The branch that you read now. What you say later is in it only while it grows.')}
        value={isGrowing ? 'GROWING' : 'FROZEN'}
        onChange={(value) => setGrowing(value === 'GROWING')}
        options={[
          { value: 'FROZEN', label: t('The chat as it is now') },
          { value: 'GROWING', label: t('The chat as it grows') },
        ]}
      />
      <SelectField
        label={t('When it ends')}
        value={days}
        onChange={setDays}
        options={[
          { value: '', label: t('When I revoke it') },
          { value: '1', label: t('In a day') },
          { value: '7', label: t('In a week') },
          { value: '30', label: t('In a month') },
        ]}
      />
      {audience === 'ANYONE' ? (
        <Note tone="warn">{t('Anyone with the link can read the chat and its files, without signing in.')}</Note>
      ) : (
        <p className={styles.quiet}>
          {t(
            'They see what was said, and files. Sources that they may not open are hidden from them; instructions and steps are from everybody.',
          )}
        </p>
      )}
      <ErrorNote error={errorBeside(error, wrongEmails === undefined ? [] : fields)} />
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
