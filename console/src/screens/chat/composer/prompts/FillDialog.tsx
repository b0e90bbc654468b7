import type { ParleyError } from '@parley/client';
import { useState } from 'react';
import { readableError, run } from '../../../../graphql/client.ts';
import { useText } from '../../../../text/text.ts';
import { ErrorNote } from '../../../../ui/feedback.tsx';
import { SelectField, TextAreaField } from '../../../../ui/form/fields.tsx';
import { FormDialog } from '../../../../ui/overlay/form-dialog.tsx';
import { type Chat_PromptFragment, ChatFilledPromptDocument } from '../../documents.ts';

/** Asks for the variables of a prompt. */
export function FillDialog({
  prompt: { id, name, variables },
  onClose,
  onFilled,
}: {
  readonly prompt: Chat_PromptFragment;
  readonly onClose: () => void;
  readonly onFilled: (text: string) => void;
}) {
  const { t } = useText();
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<ParleyError>();
  const currentValue = ({ name: variable, default: preset, choices }: (typeof variables)[number]) =>
    values[variable] ?? preset ?? choices[0] ?? '';
  const [isTried, setTried] = useState(false);
  const isMissing = (variable: (typeof variables)[number]) => variable.default === null && currentValue(variable).trim() === '';
  const fill = async () => {
    setTried(true);
    if (variables.some(isMissing)) return;
    setBusy(true);
    setError(undefined);
    try {
      const given = variables.map((variable) => ({ name: variable.name, value: currentValue(variable) }));
      onFilled((await run(ChatFilledPromptDocument, { id, values: given })).filledPrompt);
    } catch (cause) {
      setError(readableError(cause));
      setBusy(false);
    }
  };
  return (
    <FormDialog title={name} onClose={onClose} onSubmit={() => void fill()} action={t('Put it in the box')} isBusy={isBusy}>
      {variables.map((variable) => {
        const shared = {
          label: variable.name,
          error: isTried && isMissing(variable) ? t('This needs a value.') : undefined,
          value: currentValue(variable),
          onChange: (value: string) => setValues({ ...values, [variable.name]: value }),
        };
        return variable.choices.length === 0 ? (
          <TextAreaField key={variable.name} {...shared} rows={2} />
        ) : (
          <SelectField
            key={variable.name}
            {...shared}
            options={variable.choices.map((choice) => ({ value: choice, label: choice }))}
          />
        );
      })}
      <ErrorNote error={error} />
    </FormDialog>
  );
}
