import { useState } from 'react';
import { useMutate, usePage } from '../../../../graphql/hooks.ts';
import { useText } from '../../../../text/text.ts';
import { Badge, ErrorNote, Note, Skeleton } from '../../../../ui/feedback.tsx';
import { Button } from '../../../../ui/form/button.tsx';
import { TextAreaField } from '../../../../ui/form/fields.tsx';
import { Dialog } from '../../../../ui/overlay/dialog.tsx';
import { formatMs } from '../../../../ui/small.tsx';
import styles from '../editor.module.css';
import { Row, Rows } from '../parts/Rows.tsx';
import { parseJson } from '../parts/words.ts';
import { OfferedToolsDocument, type OwnToolFragment, TryToolDocument } from './documents.ts';
import { buildExample } from './example.ts';

/** Calls a tool once as a run would; of an MCP server, one of the tools that it has now. */
export function TryDialog({ tool, onClose }: { readonly tool: OwnToolFragment; readonly onClose: () => void }) {
  const { t } = useText();
  const parameters = tool.settings?.__typename === 'ApiFunctionSettings' ? tool.settings.parameters : null;
  return (
    <Dialog title={t('Try {name}', { name: tool.name })} isOpen size="wide" onClose={onClose}>
      {tool.type === 'MCP_SERVER' ? <ServerTools id={tool.id} /> : <TryForm id={tool.id} schema={parameters} />}
    </Dialog>
  );
}

function TryForm({ id, name, schema }: { readonly id: string; readonly name?: string; readonly schema: unknown }) {
  const { t, number } = useText();
  const attempt = useMutate(TryToolDocument);
  const [text, setText] = useState(() => JSON.stringify(buildExample(schema), undefined, 2));
  const [trial, setTrial] = useState<{ readonly output: string; readonly isError: boolean; readonly durationMs: number }>();
  const value = parseJson(text);
  const call = async () => {
    setTrial(undefined);
    const reply = await attempt.run({ id, arguments: value, tool: name ?? null });
    setTrial(reply?.tryAgentTool);
  };
  return (
    <>
      <Note>{t('The call is real: what it changes stays changed.')}</Note>
      <TextAreaField
        label={t('Arguments as JSON')}
        error={value === undefined ? t('This is no JSON.') : undefined}
        rows={5}
        spellCheck={false}
        value={text}
        onChange={setText}
      />
      <div className={styles.choices}>
        <Button variant="primary" isBusy={attempt.isBusy} disabled={value === undefined} onClick={() => void call()}>
          {t('Call it')}
        </Button>
        {trial === undefined ? null : (
          <>
            <Badge tone={trial.isError ? 'bad' : 'good'}>{trial.isError ? t('Failed') : t('Done')}</Badge>
            <span>{formatMs(trial.durationMs, number)}</span>
          </>
        )}
      </div>
      <ErrorNote error={attempt.error} />
      {trial === undefined ? null : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
        <section aria-label={t('What the model would read')} tabIndex={0} className={styles.output}>
          {trial.output}
        </section>
      )}
    </>
  );
}

/** What an MCP server offers now, each with a form to call it. */
function ServerTools({ id }: { readonly id: string }) {
  const { t } = useText();
  const { data, error, isLoading, reload } = usePage(OfferedToolsDocument, { id });
  const [chosen, setChosen] = useState<string>();
  const listing = data?.agentToolTools;
  return (
    <>
      <ErrorNote error={error} onRetry={reload} />
      {isLoading ? <Skeleton /> : null}
      {listing?.unavailableReason == null ? null : <Note tone="bad">{listing.unavailableReason}</Note>}
      {listing === undefined || listing.tools.length === 0 ? null : (
        <Rows label={t('Tools of the server')}>
          {listing.tools.map(({ tool, isAllowed }) => (
            <Row
              key={tool.name}
              title={tool.title ?? <code>{tool.name}</code>}
              note={tool.description}
              badges={
                <>
                  {isAllowed ? null : <Badge>{t('Not allowed')}</Badge>}
                  {tool.isReadOnly === true ? <Badge tone="good">{t('Only reads')}</Badge> : null}
                  {tool.isDestructive === true ? <Badge tone="warn">{t('May delete')}</Badge> : null}
                </>
              }
              actions={
                isAllowed && chosen !== tool.name ? (
                  <Button size="small" onClick={() => setChosen(tool.name)}>
                    {t('Try it')}
                    <span className="visually-hidden"> {tool.name}</span>
                  </Button>
                ) : undefined
              }
            >
              {chosen === tool.name ? <TryForm id={id} name={tool.name} schema={tool.inputSchema} /> : null}
            </Row>
          ))}
        </Rows>
      )}
      {listing === undefined || listing.leftOutCount === 0 ? null : (
        <Note>
          {t('{count, plural, one {# more is} other {# more are}} not offered to runs.', { count: listing.leftOutCount })}
        </Note>
      )}
    </>
  );
}
