import { useText } from '../../../../../text/text.ts';
import { TextAreaField } from '../../../../../ui/form/fields.tsx';
import { CaseRows, type CaseRowsWords, type Column } from './CaseRows.tsx';
import { type CaseListName, createRow } from './lists.ts';
import type { CaseForm, CaseTextName } from './use-case-form.ts';

/** As the service bounds them. */
const listBounds: Readonly<Record<CaseListName, number>> = {
  messages: 100,
  files: 10,
  userInputs: 100,
  mustCall: 50,
  recordedCalls: 50,
};

interface FormProps {
  readonly form: CaseForm;
}

/** A text of a case, or a list whose items are a line each. */
export function CaseText({
  form,
  name,
  label,
  hint,
  rows = 2,
}: FormProps & { readonly name: CaseTextName; readonly label: string; readonly hint?: string; readonly rows?: number }) {
  return (
    <TextAreaField
      label={label}
      hint={hint}
      error={form.findFault(name)}
      rows={rows}
      value={form.fields.texts[name]}
      onChange={(text) => form.setText(name, text)}
    />
  );
}

function CaseList({
  form,
  name,
  columns,
  ...words
}: FormProps & CaseRowsWords & { readonly name: CaseListName; readonly columns: readonly Column[] }) {
  return (
    <CaseRows
      {...words}
      rows={form.fields.lists[name]}
      columns={columns}
      most={listBounds[name]}
      blank={() => createRow(name === 'messages' ? { role: 'USER' } : {})}
      fault={(index, column) => form.findFault(`${name}.${index}.${column}`)}
      onChange={(rows) => form.setList(name, rows)}
    />
  );
}

/** What comes with the question. It is open where there is something, and as soon as something in it is refused. */
export function ContextFields({ form }: FormProps) {
  const { t } = useText();
  const names = ['messages', 'files', 'userInputs'] as const;
  const isOpen = names.some((name) => form.start.lists[name].length > 0 || form.findFault(name) !== undefined);
  const roles = [
    { value: 'USER', label: t('The person who asks') },
    { value: 'ASSISTANT', label: t('The agent') },
  ];
  return (
    <details open={isOpen}>
      <summary>{t('What comes with the question')}</summary>
      <CaseList
        form={form}
        name="messages"
        legend={t('Said before')}
        note={t('What was said before the question, oldest first.')}
        add={t('Add a message')}
        label={(index) => t('Message {number}', { number: index + 1 })}
        columns={[
          { name: 'role', label: t('Who said it'), kind: { options: roles } },
          { name: 'content', label: t('What was said'), kind: 'text' },
        ]}
      />
      <CaseList
        form={form}
        name="files"
        legend={t('Documents')}
        add={t('Add a document')}
        label={(index) => t('Document {number}', { number: index + 1 })}
        columns={[
          { name: 'filename', label: t('Name of the file') },
          { name: 'text', label: t('Its text'), kind: 'text' },
        ]}
      />
      <CaseList
        form={form}
        name="userInputs"
        legend={t('Values of user inputs')}
        add={t('Add a value')}
        label={(index) => t('Value {number}', { number: index + 1 })}
        columns={[
          { name: 'name', label: t('Variable name') },
          { name: 'value', label: t('Its value'), hint: t('A number, true, false, or a text. "5" in quotes is a text.') },
        ]}
      />
    </details>
  );
}

/** Which tools are called, and what they give. It is open where there is something, and as soon as something in it is refused. */
export function CallFields({ form }: FormProps) {
  const { t } = useText();
  const { texts, lists } = form.start;
  const isFilled = texts.mustNotCall !== '' || lists.mustCall.length > 0 || lists.recordedCalls.length > 0;
  const isRefused = ['mustCall', 'mustNotCall', 'recordedCalls'].some((name) => form.findFault(name) !== undefined);
  const tool = { name: 'name', label: t('Name of the tool') };
  const wanted = { label: t('Arguments that the call must have'), hint: t('A JSON object. Empty: any.') };
  const given = { label: t('Arguments'), hint: t('JSON. Empty: whatever the arguments are.') };
  return (
    <details open={isFilled || isRefused}>
      <summary>{t('Calls of tools')}</summary>
      <CaseList
        form={form}
        name="mustCall"
        legend={t('It must call')}
        add={t('Add a call that it must make')}
        label={(index) => t('Call {number}', { number: index + 1 })}
        columns={[tool, { name: 'arguments', kind: 'text', ...wanted }]}
      />
      <CaseText form={form} name="mustNotCall" label={t('It must not call')} hint={t('The name of a tool a line.')} />
      <CaseList
        form={form}
        name="recordedCalls"
        legend={t('What tools give')}
        note={t('Tools that change something are not called: they give what stands here.')}
        add={t('Add what a tool gives')}
        label={(index) => t('Output {number}', { number: index + 1 })}
        columns={[
          tool,
          { name: 'arguments', kind: 'text', ...given },
          { name: 'output', label: t('What it gives'), kind: 'text' },
          { name: 'error', label: t('Why it fails'), hint: t('Empty: it does not fail.') },
        ]}
      />
    </details>
  );
}
