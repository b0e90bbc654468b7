import { X } from 'lucide-react';
import { useState } from 'react';
import { useText } from '../../../../text/text.ts';
import { Button, IconButton } from '../../../../ui/form/button.tsx';
import { findFault } from '../../../../ui/form/faults/find.ts';
import { TextField } from '../../../../ui/form/fields.tsx';
import { isPressed } from '../../../../ui/form/keys.ts';
import { Section } from '../../../../ui/page.tsx';
import { Avatar } from '../../../../ui/small.tsx';
import type { AgentForm } from '../draft/use-draft.ts';
import styles from '../editor.module.css';
import { Row, Rows } from '../parts/Rows.tsx';

/** Who may change the agent besides its owner. */
export function Editors({ form, owner }: { readonly form: AgentForm; readonly owner: string | undefined }) {
  const { t } = useText();
  const [email, setEmail] = useState('');
  const editors = form.fields.editors;
  const add = () => {
    const address = email.trim().toLowerCase();
    if (address === '' || editors.some((editor) => editor.email === address)) return;
    form.set('editors', [...editors, { id: null, name: address, email: address }]);
    setEmail('');
  };
  return (
    <Section
      title={t('Who may edit it')}
      lead={t('Editors change everything but who uses and edits it. {owner} owns it.', { owner: owner ?? t('A former member') })}
    >
      {editors.length === 0 ? null : (
        <Rows label={t('Editors')}>
          {editors.map((editor) => (
            <Row
              key={editor.id ?? editor.email}
              title={
                <span className={styles.choices}>
                  <Avatar name={editor.name} size={28} />
                  {editor.name}
                </span>
              }
              note={editor.email !== null && editor.email !== editor.name ? editor.email : undefined}
              actions={
                <IconButton
                  label={t('Remove {name}', { name: editor.name })}
                  onClick={() =>
                    form.set(
                      'editors',
                      editors.filter((other) => other !== editor),
                    )
                  }
                >
                  <X size={16} aria-hidden />
                </IconButton>
              }
            />
          ))}
        </Rows>
      )}
      <div className={styles.addRow}>
        <TextField
          label={t('Add an editor')}
          hint={t('The e-mail of a member of the organization.')}
          error={findFault(form.error, 'input.editors')}
          type="email"
          value={email}
          onChange={setEmail}
          onKeyDown={(event) => {
            if (!isPressed(event, 'Enter')) return;
            event.preventDefault();
            add();
          }}
        />
        <Button onClick={add} disabled={email.trim() === ''}>
          {t('Add')}
        </Button>
      </div>
    </Section>
  );
}
