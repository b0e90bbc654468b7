import type { ParleyError } from '@parley/client';
import { Pencil, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { readableError } from '../../../graphql/client.ts';
import { useMutate } from '../../../graphql/hooks.ts';
import { createPasskey } from '../../../parts/credentials/passkeys.ts';
import styles from '../../../parts/people/people.module.css';
import { useText } from '../../../text/text.ts';
import { Badge, ErrorNote } from '../../../ui/feedback.tsx';
import { Button, IconButton } from '../../../ui/form/button.tsx';
import { errorBeside, findFault } from '../../../ui/form/faults/find.ts';
import { TextField } from '../../../ui/form/fields.tsx';
import { useConfirm } from '../../../ui/overlay/confirm.tsx';
import { Dialog } from '../../../ui/overlay/dialog.tsx';
import { Section } from '../../../ui/page.tsx';
import { Time } from '../../../ui/small.tsx';
import { type AccountQuery, DeletePasskeyDocument, RenamePasskeyDocument } from './documents.ts';

type Passkey = AccountQuery['viewer']['passkeys']['nodes'][number];

/** The reader's passkeys and providers: how they sign in. */
export function Passkeys({
  passkeys,
  identities,
  onChanged,
}: {
  readonly passkeys: readonly Passkey[];
  readonly identities: NonNullable<AccountQuery['viewer']['user']['identities']>['nodes'];
  readonly onChanged: () => void;
}) {
  const { t } = useText();
  const confirm = useConfirm();
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<ParleyError>();
  const [renamed, setRenamed] = useState<Passkey>();
  const remove = useMutate(DeletePasskeyDocument);
  const canAdd = typeof PublicKeyCredential === 'function';
  const add = async () => {
    setBusy(true);
    setError(undefined);
    try {
      await createPasskey(t, t('Passkey {number}', { number: passkeys.length + 1 }));
      onChanged();
    } catch (cause) {
      setError(readableError(cause));
    } finally {
      setBusy(false);
    }
  };
  const onRemove = async ({ id, name }: Passkey) => {
    const isConfirmed = await confirm({
      title: t('Delete the passkey {name}?', { name }),
      body: t('It signs nobody in any more. Sessions that it began go on.'),
      action: t('Delete'),
      isDanger: true,
    });
    if (isConfirmed && (await remove.run({ id })) !== undefined) onChanged();
  };
  return (
    <Section title={t('Passkeys and providers')} lead={t('Sign in by a finger, a face or a PIN of your device.')}>
      {passkeys.length + identities.length === 0 ? null : (
        <ul className={styles.rows}>
          {identities.map(({ provider, email, lastUsedAt }) => (
            <li key={provider}>
              <span className={styles.grow}>
                {provider} <span className={styles.quiet}>{email}</span>
              </span>
              <Time at={lastUsedAt} />
            </li>
          ))}
          {passkeys.map((passkey) => (
            <PasskeyRow
              key={passkey.id}
              passkey={passkey}
              onRename={() => setRenamed(passkey)}
              onRemove={() => void onRemove(passkey)}
            />
          ))}
        </ul>
      )}
      <ErrorNote error={error ?? remove.error} />
      {canAdd ? (
        <div>
          <Button isBusy={isBusy} onClick={() => void add()}>
            {t('Add a passkey')}
          </Button>
        </div>
      ) : (
        <p className={styles.quiet}>{t('Passkeys need an address with https.')}</p>
      )}
      {renamed === undefined ? null : (
        <RenameDialog passkey={renamed} onClose={() => setRenamed(undefined)} onChanged={onChanged} />
      )}
    </Section>
  );
}

function PasskeyRow({
  passkey,
  onRename,
  onRemove,
}: {
  readonly passkey: Passkey;
  readonly onRename: () => void;
  readonly onRemove: () => void;
}) {
  const { t } = useText();
  return (
    <li>
      <span className={styles.grow}>
        {passkey.name} {passkey.isBackedUp ? <Badge>{t('Synchronized')}</Badge> : null}
        <span className={styles.block}>{passkey.lastUsedAt === null ? t('never used') : <Time at={passkey.lastUsedAt} />}</span>
      </span>
      <span className={styles.end}>
        <IconButton label={t('Rename {name}', { name: passkey.name })} onClick={onRename}>
          <Pencil size={16} aria-hidden />
        </IconButton>
        <IconButton label={t('Delete {name}', { name: passkey.name })} onClick={onRemove}>
          <Trash2 size={16} aria-hidden />
        </IconButton>
      </span>
    </li>
  );
}

function RenameDialog({
  passkey,
  onClose,
  onChanged,
}: {
  readonly passkey: Passkey;
  readonly onClose: () => void;
  readonly onChanged: () => void;
}) {
  const { t } = useText();
  const [name, setName] = useState(passkey.name);
  const { run: rename, isBusy, error } = useMutate(RenamePasskeyDocument);
  const save = async () => {
    if ((await rename({ id: passkey.id, name: name.trim() })) === undefined) return;
    onChanged();
    onClose();
  };
  return (
    <Dialog
      title={t('Rename the passkey')}
      size="small"
      isOpen
      onClose={onClose}
      onSubmit={() => void save()}
      actions={
        <Button type="submit" variant="primary" isBusy={isBusy} disabled={name.trim() === ''}>
          {t('Save')}
        </Button>
      }
    >
      <TextField label={t('Name')} error={findFault(error, 'name')} maxLength={200} value={name} onChange={setName} />
      <ErrorNote error={errorBeside(error, ['name'])} />
    </Dialog>
  );
}
