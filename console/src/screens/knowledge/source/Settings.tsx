import { useState } from 'react';
import { useMutate } from '../../../graphql/hooks.ts';
import { useText } from '../../../text/text.ts';
import { ErrorNote } from '../../../ui/feedback.tsx';
import { Button } from '../../../ui/form/button.tsx';
import { findFault } from '../../../ui/form/faults/find.ts';
import { Switch } from '../../../ui/form/field.tsx';
import { TextField } from '../../../ui/form/fields.tsx';
import { useToast } from '../../../ui/overlay/toasts.tsx';
import { Card, Section } from '../../../ui/page.tsx';
import { PeriodField } from '../add/AddForm.tsx';
import { ChangeSourceDocument, type UpdateDataSourceInput } from '../documents.ts';
import { useRemoval } from './SourceActions.tsx';
import styles from './source.module.css';
import type { Source } from './source.ts';

/** What its owner and administrators decide about a source. Each change holds at once. */
export function Settings({ source, onChanged }: { readonly source: Source; readonly onChanged: () => void }) {
  const { t } = useText();
  const say = useToast();
  const { id, name, type, refreshPeriod, cite, orgVisible } = source;
  const change = useMutate(ChangeSourceDocument);
  const remove = useRemoval(source);
  const [typedName, setTypedName] = useState(name);
  const send = async (input: UpdateDataSourceInput) => {
    if ((await change.run({ id, input })) === undefined) return;
    say(t('Saved'));
    onChanged();
  };
  const nameFault = findFault(change.error, 'name');
  const isGiven = type === 'FILE_UPLOAD' || type === 'API';
  return (
    <>
      {nameFault === undefined ? <ErrorNote error={change.error} /> : null}
      <Card>
        <form
          className={styles.rename}
          onSubmit={(event) => {
            event.preventDefault();
            void send({ name: typedName.trim() });
          }}
        >
          <TextField label={t('Name')} error={nameFault} maxLength={200} value={typedName} onChange={setTypedName} />
          <Button type="submit" isBusy={change.isBusy} disabled={typedName.trim() === '' || typedName.trim() === name}>
            {t('Rename')}
          </Button>
        </form>
        {isGiven ? null : <PeriodField value={refreshPeriod} onChange={(period) => void send({ refreshPeriod: period })} />}
        <Switch
          label={t('Answers may cite it')}
          hint={t('Otherwise agents know what is in it, and show nobody where it stands.')}
          isOn={cite}
          onChange={(isOn) => void send({ cite: isOn })}
        />
        <Switch
          label={t('Everybody in the organization sees it')}
          hint={t('And may give it to agents.')}
          isOn={orgVisible}
          onChange={(isOn) => void send({ orgVisible: isOn })}
        />
      </Card>
      <Section title={t('Delete')} lead={t('Everything that was read of it is deleted. This cannot be undone.')}>
        <div>
          <Button variant="danger" onClick={() => void remove()}>
            {t('Delete this source')}
          </Button>
        </div>
      </Section>
    </>
  );
}
