import { useState } from 'react';
import { usePage } from '../../../graphql/hooks.ts';
import styles from '../../../parts/people/people.module.css';
import { useText } from '../../../text/text.ts';
import { ErrorNote, Note } from '../../../ui/feedback.tsx';
import { Button } from '../../../ui/form/button.tsx';
import { SelectField } from '../../../ui/form/fields.tsx';
import { Dialog } from '../../../ui/overlay/dialog.tsx';
import { CodeBox } from '../../../ui/small.tsx';
import { SnippetModelsDocument } from './documents.ts';
import { buildSnippet, type SnippetLanguage, snippetLanguages } from './snippets.ts';

/** A new key: its secret, once, and a program that uses it. */
export function KeySecret({
  name,
  secret,
  isForPrograms,
  onClose,
}: {
  readonly name: string;
  readonly secret: string;
  /** False for keys of identity providers, which speak SCIM. */
  readonly isForPrograms: boolean;
  readonly onClose: () => void;
}) {
  const { t } = useText();
  return (
    <Dialog
      title={t('The key {name}', { name })}
      size="wide"
      isOpen
      onClose={onClose}
      actions={
        <Button variant="primary" onClick={onClose}>
          {t('Done')}
        </Button>
      }
    >
      <Note tone="warn">{t('Copy the key now: it is not shown again.')}</Note>
      <CodeBox text={secret} label={t('The key')} />
      {isForPrograms ? (
        <Snippet secret={secret} />
      ) : (
        <>
          <p>{t('Enter this address and the key at your identity provider:')}</p>
          <CodeBox text={`${location.origin}/scim/v2`} label={t('Address for SCIM')} />
        </>
      )}
    </Dialog>
  );
}

function Snippet({ secret }: { readonly secret: string }) {
  const { t } = useText();
  const [language, setLanguage] = useState<SnippetLanguage>('javascript');
  const [chosen, setChosen] = useState<string>();
  const { data, error } = usePage(SnippetModelsDocument, {});
  const agents = data?.viewer.agents?.nodes ?? [];
  const models = data?.models ?? [];
  const model = chosen ?? agents[0]?.id ?? models[0]?.id;
  const names = { javascript: 'JavaScript', python: 'Python', curl: 'curl' };
  return (
    <section className={styles.stack} aria-label={t('How to use it')}>
      <h3>{t('How to use it')}</h3>
      <ErrorNote error={error} />
      <div className={styles.spread}>
        <div className={styles.end}>
          {snippetLanguages.map((each) => (
            <Button
              key={each}
              size="small"
              variant={each === language ? 'primary' : 'plain'}
              aria-pressed={each === language}
              onClick={() => setLanguage(each)}
            >
              {names[each]}
            </Button>
          ))}
        </div>
        <SelectField
          label={t('Who answers')}
          value={model ?? ''}
          onChange={setChosen}
          options={[
            ...agents.map(({ id, name }) => ({ value: id, label: name })),
            ...models.map(({ id }) => ({ value: id, label: id })),
          ]}
        />
      </div>
      {model === undefined ? null : (
        <CodeBox text={buildSnippet(language, { origin: location.origin, secret, model })} label={t('Program')} />
      )}
      <p className={styles.quiet}>
        {t('The stock OpenAI client, with the address of this service. Keep the key out of what you publish.')}
      </p>
    </section>
  );
}
