import { useState } from 'react';
import { useMutate } from '../../../../graphql/hooks.ts';
import { useText } from '../../../../text/text.ts';
import { errorBeside, findFault } from '../../../../ui/form/faults/find.ts';
import { Checkbox } from '../../../../ui/form/field.tsx';
import { TextAreaField, TextField } from '../../../../ui/form/fields.tsx';
import { PartDialog } from '../parts/PartDialog.tsx';
import { CreateDatasetDocument } from './documents.ts';

interface Props {
  readonly agentId: string;
  readonly onClose: () => void;
  readonly onMade: (id: string) => void;
}

/** A new dataset; its cases come on its own screen. */
export function DatasetDialog({ agentId, onClose, onMade }: Props) {
  const { t } = useText();
  const create = useMutate(CreateDatasetDocument);
  const [name, setName] = useState('');
  const [description, setDescription] = useState('');
  const [callsTools, setCallsTools] = useState(false);
  const submit = async () => {
    const reply = await create.run({ agentId, input: { name, description, callsTools } });
    if (reply !== undefined) onMade(reply.createDataset.id);
  };
  return (
    <PartDialog
      title={t('New dataset')}
      isDirty={name !== '' || description !== ''}
      isBusy={create.isBusy}
      error={errorBeside(create.error, ['input.name', 'input.description'])}
      onClose={onClose}
      onSubmit={() => void submit()}
      action={t('Create')}
    >
      <TextField
        label={t('Name')}
        error={findFault(create.error, 'input.name')}
        value={name}
        maxLength={200}
        onChange={setName}
      />
      <TextAreaField
        label={t('What it is for')}
        error={findFault(create.error, 'input.description')}
        rows={2}
        value={description}
        onChange={setDescription}
      />
      <Checkbox
        label={t('Call tools that change something')}
        hint={t('Else an experiment replays what they gave in the run of the case. Tools that only read are called.')}
        checked={callsTools}
        onChange={(event) => setCallsTools(event.target.checked)}
      />
    </PartDialog>
  );
}
