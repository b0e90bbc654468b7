import { useState } from 'react';
import { useMutate, usePage } from '../../../graphql/hooks.ts';
import { useText } from '../../../text/text.ts';
import { ErrorNote } from '../../../ui/feedback.tsx';
import { Button } from '../../../ui/form/button.tsx';
import { errorBeside, findFault } from '../../../ui/form/faults/find.ts';
import { Field, Select, TextArea, TextInput } from '../../../ui/form/field.tsx';
import { Dialog } from '../../../ui/overlay/dialog.tsx';
import { CreateScheduleDocument, ScheduleAgentsDocument } from './documents.ts';

/** Makes a schedule: who is asked what, and when. */
export function ScheduleForm({ onClose, onMade }: { readonly onClose: () => void; readonly onMade: () => void }) {
  const { t } = useText();
  const [name, setName] = useState('');
  const [prompt, setPrompt] = useState('');
  const [chosen, setChosen] = useState<string>();
  const [time, setTime] = useState('09:00');
  const [days, setDays] = useState('MON-FRI');
  const [ownCron, setOwnCron] = useState('0 9 * * MON-FRI');
  const agents = usePage(ScheduleAgentsDocument, {});
  const { run, isBusy, error } = useMutate(CreateScheduleDocument);
  const agentId = chosen ?? agents.data?.viewer.agents?.nodes[0]?.id;
  const [hour = '9', minute = '0'] = time.split(':');
  const cron = days === 'own' ? ownCron.trim() : `${Number(minute)} ${Number(hour)} * * ${days}`;
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  const save = async () => {
    if (agentId === undefined) return;
    if ((await run({ input: { name: name.trim(), prompt: prompt.trim(), agentId, cron, timeZone } })) === undefined) return;
    onMade();
    onClose();
  };
  return (
    <Dialog
      title={t('New schedule')}
      isOpen
      onClose={onClose}
      onSubmit={() => void save()}
      actions={
        <>
          <Button onClick={onClose}>{t('Cancel')}</Button>
          <Button
            type="submit"
            variant="primary"
            isBusy={isBusy}
            disabled={name.trim() === '' || prompt.trim() === '' || agentId === undefined}
          >
            {t('Make the schedule')}
          </Button>
        </>
      }
    >
      <Field label={t('Name')} error={findFault(error, 'name')}>
        {(control) => <TextInput {...control} maxLength={100} value={name} onChange={(event) => setName(event.target.value)} />}
      </Field>
      <Field label={t('Agent')} error={findFault(error, 'agentId')}>
        {(control) => (
          <Select {...control} value={agentId} onChange={(event) => setChosen(event.target.value)}>
            {agents.data?.viewer.agents?.nodes.map(({ id, name: agentName }) => (
              <option key={id} value={id}>
                {agentName}
              </option>
            ))}
          </Select>
        )}
      </Field>
      <Field label={t('What it is asked')} error={findFault(error, 'prompt')}>
        {(control) => <TextArea {...control} value={prompt} onChange={(event) => setPrompt(event.target.value)} />}
      </Field>
      <DaysField value={days} onChange={setDays} />
      {days === 'own' ? (
        <Field
          label={t('Cron expression')}
          hint={t('Minute, hour, day of the month, month, weekday; in the time zone {zone}.', { zone: timeZone })}
          error={findFault(error, 'cron')}
        >
          {(control) => <TextInput {...control} value={ownCron} onChange={(event) => setOwnCron(event.target.value)} />}
        </Field>
      ) : (
        <Field label={t('Time of day')} hint={t('In the time zone {zone}.', { zone: timeZone })} error={findFault(error, 'cron')}>
          {(control) => <TextInput {...control} type="time" value={time} onChange={(event) => setTime(event.target.value)} />}
        </Field>
      )}
      <ErrorNote error={agents.error ?? errorBeside(error, ['name', 'agentId', 'prompt', 'cron'])} />
    </Dialog>
  );
}

function DaysField({ value, onChange }: { readonly value: string; readonly onChange: (days: string) => void }) {
  const { t } = useText();
  return (
    <Field label={t('Days')}>
      {(control) => (
        <Select {...control} value={value} onChange={(event) => onChange(event.target.value)}>
          <option value="*">{t('Every day')}</option>
          <option value="MON-FRI">{t('Monday to Friday')}</option>
          <option value="MON">{t('Mondays')}</option>
          <option value="FRI">{t('Fridays')}</option>
          <option value="own">{t('By a cron expression')}</option>
        </Select>
      )}
    </Field>
  );
}
