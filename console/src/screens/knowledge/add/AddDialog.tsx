import { Braces, Files, Globe, Plug } from 'lucide-react';
import { useState } from 'react';
import { useSession } from '../../../parts/session/session.tsx';
import { useText } from '../../../text/text.ts';
import { Dialog } from '../../../ui/overlay/dialog.tsx';
import type { AddFormProps } from './AddForm.tsx';
import styles from './add.module.css';
import { ConnectedForm } from './ConnectedForm.tsx';
import type { NamedFile } from './dropped.ts';
import { FilesForm } from './FilesForm.tsx';
import { JsonForm } from './JsonForm.tsx';
import { SiteForm } from './SiteForm.tsx';

type Way = 'files' | 'site' | 'connection' | 'json';

/** Adds knowledge in one of four ways. */
export function AddDialog({ files, ...form }: AddFormProps & { readonly files: readonly NamedFile[] }) {
  const { t } = useText();
  const { may } = useSession();
  const [way, setWay] = useState<Way>('files');
  const ways = [
    { id: 'files', label: t('Files and folders'), icon: Files },
    { id: 'site', label: t('Web site'), icon: Globe },
    ...(may('CONNECTIONS_READ') ? [{ id: 'connection', label: t('Connected service'), icon: Plug } as const] : []),
    { id: 'json', label: 'JSON', icon: Braces },
  ] as const;
  return (
    <Dialog title={t('Add knowledge')} size="wide" isOpen onClose={form.onClose}>
      <fieldset className={styles.ways}>
        <legend className="visually-hidden">{t('Where it comes from')}</legend>
        {ways.map(({ id, label, icon: Icon }) => (
          <label key={id} className={styles.way}>
            <input type="radio" name="way" value={id} checked={way === id} onChange={() => setWay(id)} />
            <Icon size={18} aria-hidden />
            {label}
          </label>
        ))}
      </fieldset>
      {way === 'files' ? <FilesForm {...form} files={files} /> : null}
      {way === 'site' ? <SiteForm {...form} /> : null}
      {way === 'connection' ? <ConnectedForm {...form} /> : null}
      {way === 'json' ? <JsonForm {...form} /> : null}
    </Dialog>
  );
}
