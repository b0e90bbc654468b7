import { type FormEvent, useState } from 'react';
import { useMutate, usePage } from '../../graphql/hooks.ts';
import { useText } from '../../text/text.ts';
import { ErrorNote, Note } from '../../ui/feedback.tsx';
import { Button } from '../../ui/form/button.tsx';
import { errorBeside, findFault } from '../../ui/form/faults/find.ts';
import { useFaultWords } from '../../ui/form/faults/words.ts';
import { Field, Select, TextInput } from '../../ui/form/field.tsx';
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
      <Field label={t('Who may open it')}>
        {(control) => (
          <Select
            {...control}
            value={audience}
            onChange={({ target }) => setAudience(audiences.find((each) => each === target.value) ?? 'ORGANIZATION')}
          >
            <option value="ORGANIZATION">{t('Everybody in the organization')}</option>
            <option value="PEOPLE">{t('People I name')}</option>
            {allowsAnyone ? <option value="ANYONE">{t('Anyone with the link')}</option> : null}
          </Select>
        )}
      </Field>
      {audience === 'PEOPLE' ? (
        <Field
          label={t('Their e-mail addresses')}
          hint={t('Members of the organization, separated by commas.')}
          error={wrongEmails === undefined ? undefined : describeFault(wrongEmails)}
        >
          {(control) => <TextInput {...control} value={emails} onChange={({ target }) => setEmails(target.value)} />}
        </Field>
      ) : null}
      <Field
        label={t('What they see')}
        hint={t('The branch that you read now. What you say later is in it only while it grows.')}
      >
        {(control) => (
          <Select
            {...control}
            value={isGrowing ? 'GROWING' : 'FROZEN'}
            onChange={({ target }) => setGrowing(target.value === 'GROWING')}
          >
            <option value="FROZEN">{t('The chat as it is now')}</option>
            <option value="GROWING">{t('The chat as it grows')}</option>
          </Select>
        )}
      </Field>
      <Field label={t('When it ends')}>
        {(control) => (
          <Select {...control} value={days} onChange={({ target }) => setDays(lives.find((each) => each === target.value) ?? '')}>
            <option value="">{t('When I revoke it')}</option>
            <option value="1">{t('In a day')}</option>
            <option value="7">{t('In a week')}</option>
            <option value="30">{t('In a month')}</option>
          </Select>
        )}
      </Field>
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

const audiences = ['ORGANIZATION', 'PEOPLE', 'ANYONE'] as const;
