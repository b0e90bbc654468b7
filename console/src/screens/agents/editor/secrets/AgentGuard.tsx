import { useMutate, usePage } from '../../../../graphql/hooks.ts';
import { AgentGuardDocument, type GuardFieldsFragment, SetAgentGuardDocument } from '../../../../parts/guards/documents.ts';
import { GuardForm } from '../../../../parts/guards/GuardForm.tsx';
import { maskedWords } from '../../../../parts/guards/words.ts';
import { useText } from '../../../../text/text.ts';
import { ErrorNote, Note, Skeleton } from '../../../../ui/feedback.tsx';
import { useToast } from '../../../../ui/overlay/toasts.tsx';
import { Section } from '../../../../ui/page.tsx';
import type { SectionProps } from '../section.ts';

/** What is masked in the runs of an agent, besides what its organization masks. */
export function AgentGuard({ agent, form, models }: SectionProps) {
  const { t } = useText();
  const say = useToast();
  const { data, error, isLoading, reload } = usePage(AgentGuardDocument, { agentId: agent.id });
  const set = useMutate(SetAgentGuardDocument);
  return (
    <Section
      title={t('Guard')}
      lead={t(
        'Models get a name such as [EMAIL_1] in place of personal data and secrets. It takes effect at once, without publishing.',
      )}
    >
      <ErrorNote error={error} onRetry={reload} />
      {isLoading ? <Skeleton lines={8} /> : null}
      {data === undefined ? null : (
        <>
          <OfOrganization guard={data.organizationGuard} />
          <GuardForm
            key={data.agentGuard.updatedAt}
            guard={data.agentGuard}
            modelIds={models.map(({ id }) => id)}
            isReadOnly={form.isReadOnly}
            isBusy={set.isBusy}
            error={set.error}
            onSave={(input) =>
              void set.run({ agentId: agent.id, input }).then((reply) => {
                if (reply === undefined) return;
                say(t('The guard is saved. It holds for runs that begin.'));
                reload();
              })
            }
          />
        </>
      )}
    </Section>
  );
}

/** What holds for each agent. */
function OfOrganization({ guard: { kinds, patterns, modelId, putsBack } }: { readonly guard: GuardFieldsFragment }) {
  const { t, language } = useText();
  const words = maskedWords(t);
  const names = [
    ...kinds.map((kind) => words[kind]),
    ...patterns.map(({ name }) => name),
    ...(modelId === null ? [] : [words.PERSONAL]),
  ];
  if (names.length === 0) return null;
  const list = new Intl.ListFormat(language).format(names);
  return (
    <Note>
      <p>{t('The organization masks in each agent: {list}.', { list })}</p>
      {putsBack ? null : <p>{t('It does not put values back.')}</p>}
    </Note>
  );
}
