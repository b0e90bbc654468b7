import type { ParleyError } from '@parley/client';
import { useState } from 'react';
import { readableError, run } from '../../../../graphql/client.ts';
import { useText } from '../../../../text/text.ts';
import { ErrorNote } from '../../../../ui/feedback.tsx';
import { Button } from '../../../../ui/form/button.tsx';
import { Field, Select, TextArea } from '../../../../ui/form/field.tsx';
import { Dialog } from '../../../../ui/overlay/dialog.tsx';
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
    <Dialog
      title={name}
      isOpen
      onClose={onClose}
      onSubmit={() => void fill()}
      actions={
        <>
          <Button onClick={onClose}>{t('Cancel')}</Button>
          <Button type="submit" variant="primary" isBusy={isBusy}>
            {t('Put it in the box')}
          </Button>
        </>
      }
    >
      {variables.map((variable) => (
        <Field
          key={variable.name}
          label={variable.name}
          error={isTried && isMissing(variable) ? t('This needs a value.') : undefined}
        >
          {(control) => {
            const onChange = (value: string) => setValues({ ...values, [variable.name]: value });
            if (variable.choices.length === 0) {
              return (
                <TextArea
                  {...control}
                  rows={2}
                  value={currentValue(variable)}
                  onChange={(event) => onChange(event.target.value)}
                />
              );
            }
            return (
              <Select {...control} value={currentValue(variable)} onChange={(event) => onChange(event.target.value)}>
                {variable.choices.map((choice) => (
                  <option key={choice}>{choice}</option>
                ))}
              </Select>
            );
          }}
        </Field>
      ))}
      <ErrorNote error={error} />
    </Dialog>
  );
}
