import { useText } from '../../../../text/text.ts';
import { Note } from '../../../../ui/feedback.tsx';
import { findFault } from '../../../../ui/form/faults/find.ts';
import { Switch } from '../../../../ui/form/field.tsx';
import { Section } from '../../../../ui/page.tsx';
import type { AgentForm } from '../draft/use-draft.ts';
import styles from '../editor.module.css';
import { Fault } from '../parts/Fault.tsx';
import { Row, Rows } from '../parts/Rows.tsx';
import type { AgentToolsQuery } from './documents.ts';
import { StandingSettings } from './StandingSettings.tsx';
import { isBeyondForm, newTool, type StandingTool, type StandingType } from './standing.ts';
import { standingName } from './words.ts';

const types: readonly StandingType[] = [
  'FILE_SEARCH',
  'WEB_SEARCH',
  'MEMORY',
  'PYTHON',
  'SPREADSHEET',
  'IMAGE_GENERATION',
  'SUBAGENT',
  'DEEP_RESEARCH',
  'SANDBOX',
];

interface Props {
  readonly form: AgentForm;
  readonly services: AgentToolsQuery['tools'];
  readonly agentId: string;
}

/** Tools that the service brings: a switch each, which says what the installation lacks for it. */
export function StandingTools({ form, services, agentId }: Props) {
  const { t } = useText();
  const { enabledTools } = form.fields;
  const isFixed = form.isReadOnly || enabledTools.some(isBeyondForm);
  const put = (tools: readonly StandingTool[]) => form.set('enabledTools', tools);
  const turn = (type: StandingType, isOn: boolean) => {
    const addition = newTool(type);
    if (!isOn) put(enabledTools.filter((tool) => tool.type !== type));
    else if (addition !== undefined) put([...enabledTools, addition]);
  };
  const others = enabledTools.filter(({ type }) => !types.includes(type));
  return (
    <Section title={t('Standing tools')} lead={t('The agent decides when it uses them.')}>
      {enabledTools.some(isBeyondForm) ? (
        <Note>{t('A filter of the search was set by the API, which this form would lose: change these tools by the API.')}</Note>
      ) : null}
      <Fault error={findFault(form.error, 'input.enabledTools')} />
      <fieldset className={styles.bare} disabled={isFixed}>
        <legend className="visually-hidden">{t('Standing tools')}</legend>
        <Rows label={t('Standing tools')}>
          {types.map((type) => {
            const tool = enabledTools.find((other) => other.type === type);
            const service = services.find((other) => other.type === type.toLowerCase());
            return (
              <Row
                key={type}
                title={
                  <Switch
                    label={standingName(t, type)}
                    isOn={tool !== undefined}
                    onChange={(isOn) => turn(type, isOn)}
                    hint={service?.description}
                    disabled={isFixed || (service?.isAvailable === false && tool === undefined)}
                  />
                }
                note={service?.isAvailable === false ? <Missing reason={service.reason} setting={service.setting} /> : undefined}
              >
                {tool === undefined ? null : (
                  <StandingSettings
                    tool={tool}
                    agentId={agentId}
                    onChange={(edit) => put(enabledTools.map((other) => (other === tool ? edit : other)))}
                  />
                )}
              </Row>
            );
          })}
          {others.map((tool) => (
            <Row
              key={JSON.stringify(tool)}
              title={
                <Switch
                  label={nameOfServer(tool) ?? standingName(t, tool.type)}
                  isOn
                  onChange={() => put(enabledTools.filter((other) => other !== tool))}
                  hint={standingName(t, tool.type)}
                />
              }
            />
          ))}
        </Rows>
      </fieldset>
    </Section>
  );
}

function nameOfServer(tool: StandingTool): string | null {
  if (tool.__typename === 'McpTool') return tool.serverLabel;
  return tool.__typename === 'McpServerTool' ? tool.server : null;
}

function Missing({ reason, setting }: { readonly reason: string | null; readonly setting: string | null }) {
  const { t } = useText();
  return (
    <p className={styles.missing}>
      {setting === null
        ? (reason ?? t('This installation cannot run it.'))
        : t('Missing here: {reason}. The operator sets {setting}.', { reason: reason ?? '', setting })}
    </p>
  );
}
