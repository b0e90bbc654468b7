import { useState } from 'react';
import { useText } from '../../../text/text.ts';
import { findFault } from '../../../ui/form/faults/find.ts';
import { TextAreaField, TextField } from '../../../ui/form/fields.tsx';
import type { SourceAccess } from '../documents.ts';
import { AccessChoice } from './AccessChoice.tsx';
import type { AddFormProps } from './AddForm.tsx';
import { AddForm, useAddSource } from './AddForm.tsx';
import { useAgentChoice } from './AgentPicker.tsx';

/** Adds a payload of the reader's own, or a source to which a program pushes documents with their permissions. */
export function JsonForm({ agentId, onClose }: AddFormProps) {
  const { t } = useText();
  const [name, setName] = useState('');
  const [text, setText] = useState('');
  const [access, setAccess] = useState<SourceAccess>('LENT');
  const isPushed = access === 'MIRRORED';
  const { picker, agent, isReady } = useAgentChoice(agentId, false);
  const { addSource, isBusy, error } = useAddSource(onClose);
  const data = isPushed ? {} : parseObject(text);
  const faults = { name: findFault(error, 'name'), data: findFault(error, 'data') };
  const isWrong = text.trim() !== '' && data === undefined;
  const accessInput = isPushed ? { access } : {};
  return (
    <AddForm
      error={faults.name === undefined && faults.data === undefined ? error : undefined}
      isBusy={isBusy}
      isReady={name.trim() !== '' && data !== undefined && isReady}
      onSubmit={() => void addSource(agent, { api: { name: name.trim(), data, ...accessInput } })}
      onClose={onClose}
    >
      <TextField label={t('Name')} error={faults.name} maxLength={200} value={name} onChange={setName} />
      <AccessChoice isPushed value={access} onChange={setAccess} />
      {isPushed ? null : (
        <TextAreaField
          label={t('Content')}
          hint={t('A JSON object. Each value is found with its path.')}
          error={isWrong ? t('This is not a JSON object.') : faults.data}
          rows={8}
          spellCheck={false}
          placeholder={'{ "opening hours": { "Monday": "9 to 17" } }'}
          value={text}
          onChange={setText}
        />
      )}
      {picker}
    </AddForm>
  );
}

/** Undefined for what is no object. */
function parseObject(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
