import { Bot, FolderOpen } from 'lucide-react';
import type { ReactNode } from 'react';
import { useSession } from '../../../parts/session/session.tsx';
import { useText } from '../../../text/text.ts';
import { EmptyState } from '../../../ui/feedback.tsx';
import { ButtonLink } from '../../../ui/form/button.tsx';

/** In place of a chat with an agent that the reader cannot ask. */
export function AgentGone({ children }: { readonly children?: ReactNode }) {
  const { t } = useText();
  return (
    <EmptyState
      icon={<Bot size={26} aria-hidden />}
      isScreen
      title={t('This agent is not there')}
      action={
        <ButtonLink variant="primary" href="/">
          {t('Ask another agent')}
        </ButtonLink>
      }
    >
      {children}
    </EmptyState>
  );
}

export function ProjectGone() {
  const { t } = useText();
  return (
    <EmptyState
      icon={<FolderOpen size={26} aria-hidden />}
      isScreen
      title={t('This project is not there')}
      action={<ButtonLink href="/projects">{t('All projects')}</ButtonLink>}
    >
      {t('It was deleted, or it is not shared with you any more.')}
    </EmptyState>
  );
}

/** What a new chat says where there is nobody to ask. */
export function NoAgent() {
  const { t } = useText();
  const { may } = useSession();
  return (
    <EmptyState
      icon={<Bot size={26} aria-hidden />}
      isScreen
      title={t('There is no agent to ask yet')}
      action={
        may('AGENTS_WRITE') ? (
          <ButtonLink variant="primary" href="/agents?new">
            {t('Make an agent')}
          </ButtonLink>
        ) : undefined
      }
    >
      {t(
        'An agent answers with instructions, a model and knowledge of your own. Make one, or ask an administrator to share one with you.',
      )}
    </EmptyState>
  );
}
