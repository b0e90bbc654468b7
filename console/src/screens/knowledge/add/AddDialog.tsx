import { Braces, Files, Globe, type LucideIcon, Plug } from 'lucide-react';
import { type ComponentType, useState } from 'react';
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

interface Way {
  readonly id: string;
  readonly label: string;
  readonly icon: LucideIcon;
  readonly Form: ComponentType<AddFormProps & { readonly files: readonly NamedFile[] }>;
}

/** Adds knowledge in one of four ways. */
export function AddDialog({ files, ...form }: AddFormProps & { readonly files: readonly NamedFile[] }) {
  const { t } = useText();
  const { may } = useSession();
  const [chosenId, setChosenId] = useState('files');
  const connection = { id: 'connection', label: t('Connected service'), icon: Plug, Form: ConnectedForm };
  const ways: readonly Way[] = [
    { id: 'files', label: t('Files and folders'), icon: Files, Form: FilesForm },
    { id: 'site', label: t('Web site'), icon: Globe, Form: SiteForm },
    ...(may('CONNECTIONS_READ') ? [connection] : []),
    { id: 'json', label: 'JSON', icon: Braces, Form: JsonForm },
  ];
  return (
    <Dialog title={t('Add knowledge')} size="wide" isOpen onClose={form.onClose}>
      <fieldset className={styles.ways}>
        <legend className="visually-hidden">{t('Where it comes from')}</legend>
        {ways.map(({ id, label, icon: Icon }) => (
          <label key={id} className={styles.way}>
            <input type="radio" name="way" value={id} checked={chosenId === id} onChange={() => setChosenId(id)} />
            <Icon size={18} aria-hidden />
            {label}
          </label>
        ))}
      </fieldset>
      {ways.map(({ id, Form }) => (id === chosenId ? <Form key={id} {...form} files={files} /> : null))}
    </Dialog>
  );
}
