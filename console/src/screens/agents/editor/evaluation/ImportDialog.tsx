import { useState } from 'react';
import { useMutate } from '../../../../graphql/hooks.ts';
import { useText } from '../../../../text/text.ts';
import { Checkbox, Field } from '../../../../ui/form/field.tsx';
import { useToast } from '../../../../ui/overlay/toasts.tsx';
import { PartDialog } from '../parts/PartDialog.tsx';
import { ImportCasesDocument } from './documents.ts';

interface Props {
  readonly datasetId: string;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** Cases from a file: all of them, or none where a line has a fault. */
export function ImportDialog({ datasetId, onClose, onDone }: Props) {
  const { t } = useText();
  const toast = useToast();
  const send = useMutate(ImportCasesDocument);
  const [file, setFile] = useState<File>();
  const [replaces, setReplaces] = useState(false);
  const submit = async () => {
    if (file === undefined) return;
    const format = file.name.toLowerCase().endsWith('.csv') ? 'CSV' : 'JSONL';
    const reply = await send.run({ datasetId, input: { format, content: await file.text(), replaces } });
    if (reply === undefined) return;
    toast(t('The dataset has {count} cases now.', { count: reply.importDatasetCases.caseCount }));
    onDone();
  };
  return (
    <PartDialog
      title={t('Import cases')}
      isDirty={false}
      isBusy={send.isBusy}
      error={send.error}
      onClose={onClose}
      onSubmit={() => void submit()}
      action={t('Import')}
    >
      <Field
        label={t('File')}
        hint={t(
          'CSV with the column “question”, or JSONL with a case a line. An export shows all members. Where a line has a fault, nothing is taken.',
        )}
      >
        {(control) => (
          <input
            {...control}
            type="file"
            required
            accept=".csv,.jsonl,.ndjson,text/csv"
            onChange={(event) => setFile(event.target.files?.[0])}
          />
        )}
      </Field>
      <Checkbox
        label={t('In place of the cases that are there')}
        checked={replaces}
        onChange={(event) => setReplaces(event.target.checked)}
      />
    </PartDialog>
  );
}
