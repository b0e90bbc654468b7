import { BadgeCheck, MessageSquare, Star } from 'lucide-react';
import { Link } from 'wouter';
import { useText } from '../../../text/text.ts';
import { Badge } from '../../../ui/feedback.tsx';
import { ButtonLink } from '../../../ui/form/button.tsx';
import { Avatar } from '../../../ui/small.tsx';
import { visibilityName } from '../words.ts';
import { AgentMenu } from './AgentMenu.tsx';
import type { AgentCardFragment, AgentListQuery } from './documents.ts';
import styles from './list.module.css';

/** Agents as cards. */
export function AgentGallery({
  agents,
  categories,
}: {
  readonly agents: readonly AgentCardFragment[];
  readonly categories: AgentListQuery['agentCategories'];
}) {
  const { t } = useText();
  return (
    <ul className={styles.gallery} aria-label={t('Agents')}>
      {agents.map((agent) => (
        <li key={agent.id}>
          <AgentCard agent={agent} categories={categories} />
        </li>
      ))}
    </ul>
  );
}

function AgentCard({
  agent,
  categories,
}: {
  readonly agent: AgentCardFragment;
  readonly categories: AgentListQuery['agentCategories'];
}) {
  const { t, number } = useText();
  const names = categories.filter(({ id }) => agent.orgCategoryIds.includes(id)).map(({ name }) => name);
  return (
    <article className={styles.card}>
      <header className={styles.cardHead}>
        <Avatar name={agent.name} pictureUrl={agent.pictureUrl} size={40} />
        <div className={styles.cardName}>
          <h2>
            <Link href={`/agents/${agent.id}`}>{agent.name}</Link>
          </h2>
          <p className={styles.quiet}>
            {agent.owner === null ? t('A former member') : t('by {name}', { name: agent.owner.name })}
          </p>
        </div>
        <AgentMenu agent={agent} />
      </header>
      <p className={styles.description}>{agent.description}</p>
      <footer className={styles.cardFoot}>
        <Badge>
          {agent.visibility === 'GROUP' && agent.groups.length > 0
            ? agent.groups.map(({ name }) => name).join(', ')
            : visibilityName(t, agent.visibility)}
        </Badge>
        {names.map((name) => (
          <Badge key={name}>{name}</Badge>
        ))}
        {agent.isApprovedByOrg ? (
          <Badge tone="good">
            <BadgeCheck size={14} aria-hidden /> {t('Approved')}
          </Badge>
        ) : null}
        {agent.ratingCount > 0 ? (
          <span
            className={styles.rating}
            title={t('{count, plural, one {# rating} other {# ratings}}', { count: agent.ratingCount })}
          >
            <Star size={14} aria-hidden /> {number(agent.rating, { maximumFractionDigits: 1 })}
          </span>
        ) : null}
        <span className={styles.ask}>
          <ButtonLink size="small" href={`/?agent=${agent.id}`} icon={<MessageSquare size={15} aria-hidden />}>
            {t('Ask')}
            <span className="visually-hidden"> {agent.name}</span>
          </ButtonLink>
        </span>
      </footer>
    </article>
  );
}
