import { useState } from 'react';
import { run } from '../../../../graphql/client.ts';
import { useText } from '../../../../text/text.ts';
import { findFault } from '../../../../ui/form/faults/find.ts';
import { Checkbox, type FieldError } from '../../../../ui/form/field.tsx';
import { SelectField, TextAreaField, TextField } from '../../../../ui/form/fields.tsx';
import { DraftDialog } from '../parts/DraftDialog.tsx';
import { usePartForm } from '../parts/use-part-form.ts';
import type { Parts } from '../parts/use-parts.ts';
import { AuthFields } from './AuthFields.tsx';
import { type AgentToolsQuery, CreateToolDocument, type OwnToolFragment, UpdateToolDocument } from './documents.ts';
import {
  methods,
  newValues,
  parseParameters,
  readValues,
  settingsMember,
  type ToolKind,
  type ToolValues,
  toSettingsInput,
} from './values.ts';

interface Props {
  readonly agentId: string;
  readonly parts: Parts<AgentToolsQuery, OwnToolFragment>;
  /** Undefined: a new one, of `kind`. */
  readonly tool: OwnToolFragment | undefined;
  readonly kind: ToolKind | undefined;
  readonly secrets: readonly { readonly key: string }[];
  readonly onClose: () => void;
  readonly onSaved: () => void;
}

/** The form of a tool of an agent, by its kind. */
export function ToolDialog({ agentId, parts, tool, kind = 'api', secrets, onClose, onSaved }: Props) {
  const { t } = useText();
  const labels = useLabels();
  const form = usePartForm({
    agentId,
    seen: parts.see(tool),
    toValues: (item) => (item === undefined ? newValues(kind) : readValues(item)),
    read: () => parts.read(tool?.id),
    send: (values, { item, revision }) => {
      const input = { name: values.name, settings: toSettingsInput(values, (item ?? tool)?.settings) };
      return item === undefined
        ? run(CreateToolDocument, { agentId, input, expectedDraft: revision })
        : run(UpdateToolDocument, { id: item.id, input, expectedDraft: revision });
    },
    member: parts.member,
  });
  const { values, change, error } = form;
  const [parametersFault, setFault] = useState<string>();
  const at = settingsMember(values.kind);
  const save = async () => {
    const isReadable = parseParameters(values) !== undefined;
    setFault(isReadable ? undefined : t('This is no JSON object.'));
    if (isReadable && (await form.save())) onSaved();
  };
  const titles = { api: t('New function of an API'), client: t('New function of the caller'), mcp: t('New MCP server') };
  const members = ['description', 'url', 'serverUrl', 'server', 'headers', 'query', 'body', 'parameters', 'auth', 'allowedTools'];
  const fault = (member: string) => findFault(error, `${at}.${member}`);
  const props: FieldsProps = { values, change, fault };
  return (
    <DraftDialog
      form={form}
      labels={labels}
      hidden={['credential']}
      title={tool === undefined ? titles[values.kind] : t('Edit {name}', { name: tool.name })}
      size="wide"
      fieldPaths={['input.name', ...members.map((member) => `${at}.${member}`)]}
      onClose={onClose}
      onSubmit={() => void save()}
    >
      <TextField
        label={t('Name')}
        error={findFault(error, 'input.name')}
        hint={t('The model calls it by this name: letters, digits, _ and -.')}
        value={values.name}
        spellCheck={false}
        onChange={(name) => change({ name })}
      />
      <TextAreaField
        label={t('What it does')}
        error={fault('description')}
        hint={t('The model decides by this when it calls it.')}
        rows={2}
        value={values.description}
        onChange={(description) => change({ description })}
      />
      {values.kind === 'api' ? <ApiFields {...props} /> : null}
      {values.kind === 'mcp' ? <ServerFields {...props} /> : null}
      {values.kind === 'mcp' ? null : (
        <ParametersField values={values} change={change} fault={() => parametersFault ?? fault('parameters')} />
      )}
      {values.kind === 'client' ? null : (
        <>
          <AuthFields values={values} change={change} secrets={secrets} fault={fault('auth')} />
          <Checkbox
            label={t('Ask before each call')}
            hint={t('A person approves each call in the chat.')}
            checked={values.requireApproval}
            onChange={(event) => change({ requireApproval: event.target.checked })}
          />
        </>
      )}
    </DraftDialog>
  );
}

/** What the fields are called beside their controls. */
function useLabels(): Readonly<Record<keyof ToolValues, string>> {
  const { t } = useText();
  return {
    kind: t('Kind'),
    name: t('Name'),
    description: t('What it does'),
    method: t('Method'),
    url: t('Address'),
    headers: t('Headers'),
    query: t('Query'),
    body: t('Body'),
    parameters: t('Arguments, as JSON Schema'),
    isIdempotent: t('A repeated call changes nothing more'),
    requireApproval: t('Ask before each call'),
    authType: t('How it signs in'),
    authName: t('Name of the header or parameter'),
    authInQuery: t('Send it in the query'),
    username: t('Name of the user'),
    credentialReference: t('Secret'),
    credential: t('Value'),
    server: t('Connected server'),
    allowedTools: t('Only these of its tools'),
  };
}

function ParametersField({ values, change, fault }: FieldsProps) {
  const { t } = useText();
  return (
    <TextAreaField
      label={t('Arguments, as JSON Schema')}
      error={fault('parameters')}
      hint={t('Empty: it takes no arguments.')}
      rows={6}
      spellCheck={false}
      placeholder='{"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}'
      value={values.parameters}
      onChange={(parameters) => change({ parameters })}
    />
  );
}

interface FieldsProps {
  readonly values: ToolValues;
  readonly change: (members: Partial<ToolValues>) => void;
  readonly fault: (member: string) => FieldError;
}

function ApiFields({ values, change, fault }: FieldsProps) {
  const { t } = useText();
  return (
    <>
      <SelectField
        label={t('Method')}
        value={values.method}
        onChange={(method) => change({ method })}
        options={methods.map((name) => ({ value: name, label: name }))}
      />
      <TextField
        label={t('Address')}
        error={fault('url')}
        hint={t('{argument} is an argument and {secret} a secret; behind the host only.', {
          argument: '{city}',
          secret: '{{secret:KEY}}',
        })}
        spellCheck={false}
        placeholder="https://api.example.com/weather/{city}"
        value={values.url}
        onChange={(url) => change({ url })}
      />
      <Lines label={t('Query')} name="query" {...{ values, change, fault }} />
      <Lines label={t('Headers')} name="headers" {...{ values, change, fault }} />
      {values.method === 'GET' || values.method === 'HEAD' ? null : (
        <>
          <TextAreaField
            label={t('Body')}
            error={fault('body')}
            hint={t('JSON whose texts may name arguments, or one text.')}
            rows={4}
            spellCheck={false}
            value={values.body}
            onChange={(body) => change({ body })}
          />
          <Checkbox
            label={t('A repeated call changes nothing more')}
            hint={t('Then the service repeats it after a breakdown.')}
            checked={values.isIdempotent}
            onChange={(event) => change({ isIdempotent: event.target.checked })}
          />
        </>
      )}
    </>
  );
}

function ServerFields({ values, change, fault }: FieldsProps) {
  const { t } = useText();
  return (
    <>
      <TextField
        label={t('Address of the server')}
        error={fault('serverUrl')}
        hint={t('Or name a connected server below.')}
        spellCheck={false}
        placeholder="https://mcp.example.com/mcp"
        value={values.url}
        onChange={(value) => change({ url: value, server: '' })}
      />
      <TextField
        label={t('Connected server')}
        error={fault('server')}
        hint={t('Its name here: of the operator, or one of your connections.')}
        value={values.server}
        onChange={(value) => change({ server: value, url: '' })}
      />
      <TextAreaField
        label={t('Only these of its tools')}
        error={fault('allowedTools')}
        hint={t('One a line. Empty: all.')}
        rows={2}
        spellCheck={false}
        value={values.allowedTools}
        onChange={(allowedTools) => change({ allowedTools })}
      />
      <Lines label={t('Headers')} name="headers" {...{ values, change, fault }} />
    </>
  );
}

function Lines({
  label,
  name,
  values,
  change,
  fault,
}: FieldsProps & { readonly label: string; readonly name: 'headers' | 'query' }) {
  const { t } = useText();
  return (
    <TextAreaField
      label={label}
      error={fault(name)}
      hint={t('Lines of “name: value”. Secrets are moved into the vault.')}
      rows={2}
      spellCheck={false}
      value={values[name]}
      onChange={(value) => change({ [name]: value })}
    />
  );
}
