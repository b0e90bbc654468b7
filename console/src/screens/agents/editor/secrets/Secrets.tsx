import { KeyRound, Pencil, Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { run } from '../../../../graphql/client.ts';
import { useText } from '../../../../text/text.ts';
import { Badge, EmptyState, ErrorNote, Skeleton } from '../../../../ui/feedback.tsx';
import { Button, IconButton } from '../../../../ui/form/button.tsx';
import { Section } from '../../../../ui/page.tsx';
import { Time } from '../../../../ui/small.tsx';
import { Row, Rows } from '../parts/Rows.tsx';
import { useParts } from '../parts/use-parts.ts';
import type { SectionProps } from '../section.ts';
import { AgentSecretsDocument, DeleteSecretDocument } from './documents.ts';
import { SecretDialog } from './SecretDialog.tsx';
import type { Secret } from './words.ts';
import { secretTypeName } from './words.ts';

/** Credentials of tools. Values go in and never come out. */
export function Secrets(props: SectionProps) {
  const { form } = props;
  const { t } = useText();
  const parts = useParts(AgentSecretsDocument, props, {
    pick: ({ agent }) => agent?.secrets ?? [],
    list: 'secrets',
    partName: ({ key }: Secret) => key,
  });
  const { data, error, isLoading, items: secrets, reload } = parts;
  const [edited, setEdited] = useState<Secret | 'new'>();
  const add = form.isReadOnly ? undefined : (
    <Button icon={<Plus size={16} aria-hidden />} onClick={() => setEdited('new')}>
      {t('Add a secret')}
    </Button>
  );
  const remove = (secret: Secret) =>
    parts.remove(secret, t('Tools that name it fail until they get another one.'), ({ revision }) =>
      run(DeleteSecretDocument, { id: secret.id, expectedDraft: revision }),
    );
  return (
    <Section
      title={t('Secrets')}
      lead={t('Keys and passwords that tools send. A value is written once and never shown again, to nobody.')}
      actions={secrets.length > 0 ? add : undefined}
    >
      <ErrorNote error={error} onRetry={reload} />
      {isLoading ? <Skeleton /> : null}
      {data !== undefined && secrets.length === 0 ? (
        <EmptyState icon={<KeyRound size={26} aria-hidden />} title={t('No secrets yet')} action={add}>
          {t('A tool names a secret by its key, so the value stands in no tool, no export and no log.')}
        </EmptyState>
      ) : null}
      {secrets.length === 0 ? null : (
        <Rows label={t('Secrets')}>
          {secrets.map((secret) => (
            <Row
              key={secret.id}
              title={<code>{secret.key}</code>}
              badges={
                <>
                  <Badge>{secretTypeName(t, secret.secretType)}</Badge>
                  {secret.hasValue ? null : <Badge tone="warn">{t('Without a value')}</Badge>}
                </>
              }
              note={<SecretNote secret={secret} />}
              actions={
                form.isReadOnly ? undefined : (
                  <>
                    <IconButton label={t('Change {name}', { name: secret.key })} onClick={() => setEdited(secret)}>
                      <Pencil size={16} aria-hidden />
                    </IconButton>
                    <IconButton label={t('Delete {name}', { name: secret.key })} onClick={() => void remove(secret)}>
                      <Trash2 size={16} aria-hidden />
                    </IconButton>
                  </>
                )
              }
            />
          ))}
        </Rows>
      )}
      {edited === undefined ? null : (
        <SecretDialog
          agentId={props.agent.id}
          parts={parts}
          secret={edited === 'new' ? undefined : edited}
          onClose={() => setEdited(undefined)}
          onSaved={() => {
            setEdited(undefined);
            reload();
          }}
        />
      )}
    </Section>
  );
}

function SecretNote({ secret }: { readonly secret: Secret }) {
  const { t } = useText();
  return (
    <>
      {secret.description === '' ? null : <p>{secret.description}</p>}
      <p>
        {secret.origins.length === 0
          ? t('Sent nowhere yet')
          : t('Sent to {origins} only', { origins: secret.origins.join(', ') })}
        {' · '}
        <Time at={secret.updatedAt} />
      </p>
    </>
  );
}
