import { usePage } from '../../../../graphql/hooks.ts';
import { useText } from '../../../../text/text.ts';
import { Checkbox, Field, TextArea } from '../../../../ui/form/field.tsx';
import { SelectField, TextField } from '../../../../ui/form/fields.tsx';
import styles from '../editor.module.css';
import { splitLines } from '../parts/words.ts';
import { SubagentChoicesDocument } from './documents.ts';
import type { StandingTool } from './standing.ts';

interface Props<Tool> {
  readonly tool: Tool;
  readonly onChange: (tool: Tool) => void;
}
type Of<Name extends StandingTool['__typename']> = Extract<StandingTool, { readonly __typename: Name }>;

/** The settings of a standing tool that people change; all others stay as they are. */
export function StandingSettings({ tool, agentId, onChange }: Props<StandingTool> & { readonly agentId: string }) {
  const { t } = useText();
  return (
    <details className={styles.details}>
      <summary>{t('Settings')}</summary>
      <div className={styles.settings}>
        <Checkbox
          label={t('Ask before each call')}
          hint={t('A person approves each call in the chat.')}
          checked={tool.requireApproval}
          onChange={(event) => onChange({ ...tool, requireApproval: event.target.checked })}
        />
        {tool.__typename === 'FileSearchTool' ? <FileSearch tool={tool} onChange={onChange} /> : null}
        {tool.__typename === 'WebSearchTool' ? <WebSearch tool={tool} onChange={onChange} /> : null}
        {tool.__typename === 'SubagentTool' ? <Subagents tool={tool} agentId={agentId} onChange={onChange} /> : null}
        {tool.__typename === 'MemoryTool' ? (
          <SelectField
            label={t('What it remembers')}
            value={tool.memoryScope ?? 'USER'}
            onChange={(value) => onChange({ ...tool, memoryScope: value === 'AGENT' ? 'AGENT' : 'USER' })}
            options={[
              { value: 'USER', label: t('Of a person, with all agents') },
              { value: 'AGENT', label: t('Of a person, with this agent alone') },
            ]}
          />
        ) : null}
      </div>
    </details>
  );
}

function FileSearch({ tool, onChange }: Props<Of<'FileSearchTool'>>) {
  const { t } = useText();
  return (
    <div className={styles.grid}>
      <NumberField
        label={t('Passages of one search')}
        hint={t('1 to 50; 10 when empty')}
        value={tool.resultsMax}
        onChange={(resultsMax) => onChange({ ...tool, resultsMax })}
      />
      <NumberField
        label={t('Least score')}
        hint={t('0 to 1; higher is stricter')}
        value={tool.scoreMin}
        onChange={(scoreMin) => onChange({ ...tool, scoreMin })}
      />
    </div>
  );
}

function WebSearch({ tool, onChange }: Props<Of<'WebSearchTool'>>) {
  const { t } = useText();
  const domains = (lines: string) => (lines.trim() === '' ? null : splitLines(lines));
  return (
    <div className={styles.grid}>
      <Field label={t('Only these sites')} hint={t('One a line')}>
        {(control) => (
          <TextArea
            {...control}
            rows={2}
            defaultValue={tool.allowedDomains?.join('\n')}
            onBlur={(event) => onChange({ ...tool, allowedDomains: domains(event.target.value) })}
          />
        )}
      </Field>
      <Field label={t('Never these sites')} hint={t('One a line')}>
        {(control) => (
          <TextArea
            {...control}
            rows={2}
            defaultValue={tool.blockedDomains?.join('\n')}
            onBlur={(event) => onChange({ ...tool, blockedDomains: domains(event.target.value) })}
          />
        )}
      </Field>
    </div>
  );
}

function Subagents({ tool, agentId, onChange }: Props<Of<'SubagentTool'>> & { readonly agentId: string }) {
  const { t } = useText();
  const { data } = usePage(SubagentChoicesDocument, {});
  const agentIds = tool.agentIds ?? [];
  const otherAgents = (data?.agents.nodes ?? []).filter(
    ({ id }) => id !== agentId && !tool.agents?.some((agent) => agent.id === id),
  );
  return (
    <fieldset className={styles.group}>
      <legend>{t('Agents that it may ask')}</legend>
      {[...(tool.agents ?? []), ...otherAgents].map(({ id, name }) => (
        <Checkbox
          key={id}
          label={name}
          checked={agentIds.includes(id)}
          onChange={(event) =>
            onChange({ ...tool, agentIds: event.target.checked ? [...agentIds, id] : agentIds.filter((other) => other !== id) })
          }
        />
      ))}
    </fieldset>
  );
}

function NumberField({
  label,
  hint,
  value,
  onChange,
}: {
  readonly label: string;
  readonly hint: string;
  readonly value: number | null;
  readonly onChange: (value: number | null) => void;
}) {
  return (
    <TextField
      label={label}
      hint={hint}
      type="number"
      step="any"
      value={value ?? ''}
      onChange={(value) => onChange(value === '' ? null : Number(value))}
    />
  );
}
