import { useState } from 'react';
import { useMutate } from '../../../graphql/hooks.ts';
import styles from '../../../parts/people/people.module.css';
import { useSession } from '../../../parts/session/session.tsx';
import { useText } from '../../../text/text.ts';
import { ErrorNote } from '../../../ui/feedback.tsx';
import { Button } from '../../../ui/form/button.tsx';
import { errorBeside, findFault } from '../../../ui/form/faults/find.ts';
import { TextAreaField } from '../../../ui/form/fields.tsx';
import { useConfirm } from '../../../ui/overlay/confirm.tsx';
import { Dialog } from '../../../ui/overlay/dialog.tsx';
import { Section } from '../../../ui/page.tsx';
import { Time } from '../../../ui/small.tsx';
import { PersonChoice } from '../person/PersonChoice.tsx';
import { EndHoldDocument, type OrganizationDataQuery, SetHoldDocument } from './documents.ts';

/** What may not be deleted meanwhile. */
export function Holds({
  holds,
  onChanged,
}: {
  readonly holds: OrganizationDataQuery['legalHolds']['nodes'];
  readonly onChanged: () => void;
}) {
  const { t } = useText();
  const { may } = useSession();
  const confirm = useConfirm();
  const [isSetting, setSetting] = useState(false);
  const { run, isBusy, error } = useMutate(EndHoldDocument);
  const onEnd = async (id: string) => {
    const isConfirmed = await confirm({
      title: t('End the legal hold?'),
      body: t('What is older than the retention is deleted from then on.'),
      action: t('End the hold'),
      isDanger: true,
    });
    if (isConfirmed && (await run({ id })) !== undefined) onChanged();
  };
  return (
    <Section
      title={t('Legal holds')}
      lead={t('Nothing of the person or the organization is deleted while a hold lasts.')}
      actions={may('ADMIN_WRITE') ? <Button onClick={() => setSetting(true)}>{t('Set a hold')}</Button> : undefined}
    >
      <ErrorNote error={error} />
      {holds.length === 0 ? (
        <p className={styles.quiet}>{t('No holds.')}</p>
      ) : (
        <ul className={styles.rows}>
          {holds.map(({ id, reason, user, userId, createdAt }) => (
            <li key={id}>
              <span className={styles.grow}>
                <strong>{userId === null ? t('The whole organization') : (user?.name ?? t('Somebody who left'))}</strong>
                <span className={styles.block}>
                  {reason} · <Time at={createdAt} />
                </span>
              </span>
              {may('ADMIN_WRITE') ? (
                <Button size="small" isBusy={isBusy} onClick={() => void onEnd(id)}>
                  {t('End the hold')}
                </Button>
              ) : null}
            </li>
          ))}
        </ul>
      )}
      {isSetting ? <HoldDialog onClose={() => setSetting(false)} onSaved={onChanged} /> : null}
    </Section>
  );
}

function HoldDialog({ onClose, onSaved }: { readonly onClose: () => void; readonly onSaved: () => void }) {
  const { t } = useText();
  const [userId, setUserId] = useState<string>();
  const [reason, setReason] = useState('');
  const { run, isBusy, error } = useMutate(SetHoldDocument);
  const save = async () => {
    if ((await run({ input: { userId: userId ?? null, reason: reason.trim() } })) === undefined) return;
    onSaved();
    onClose();
  };
  return (
    <Dialog
      title={t('Set a hold')}
      isOpen
      onClose={onClose}
      onSubmit={() => void save()}
      actions={
        <Button type="submit" variant="primary" isBusy={isBusy} disabled={reason.trim() === ''}>
          {t('Set the hold')}
        </Button>
      }
    >
      <PersonChoice label={t('Whose data')} value={userId} onChange={setUserId} empty={t('The whole organization')} />
      <TextAreaField label={t('Reason')} error={findFault(error, 'reason')} value={reason} onChange={setReason} />
      <ErrorNote error={errorBeside(error, ['reason'])} />
    </Dialog>
  );
}
