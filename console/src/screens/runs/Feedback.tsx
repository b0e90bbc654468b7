import { ThumbsDown, ThumbsUp } from 'lucide-react';
import { Link, useLocation, useSearch } from 'wouter';
import { useList, useLiveReload } from '../../graphql/hooks.ts';
import { useText } from '../../text/text.ts';
import { Badge, EmptyState, ErrorNote, ShowMore, Skeleton } from '../../ui/feedback.tsx';
import { Card, Toolbar } from '../../ui/page.tsx';
import { Time } from '../../ui/small.tsx';
import { RatedAnswersDocument, type RatedAnswersQuery, RunsChangedDocument } from './documents.ts';
import { useRunChoices } from './list/choices.ts';
import { Picker } from './list/Picker.tsx';
import { AddToDataset } from './run/AddToDataset.tsx';
import styles from './runs.module.css';

const ratings = ['UP', 'DOWN'] as const;

/** Rated answers, with what people say about them. */
export function Feedback() {
  const { t } = useText();
  const params = new URLSearchParams(useSearch());
  const [, go] = useLocation();
  const agentId = params.get('agent');
  const rating = ratings.find((each) => each === params.get('rating')) ?? null;
  const choices = useRunChoices([agentId ?? undefined]);
  const page = useList(RatedAnswersDocument, { agentId, rating }, (data) => data.feedback);
  useLiveReload(RunsChangedDocument, {}, page.reload, { pauseMs: 1_000 });
  const more = page.pages;
  const change = (name: string, value: string) => {
    if (value === '') params.delete(name);
    else params.set(name, value);
    go(params.size === 0 ? '/runs/feedback' : `/runs/feedback?${params}`, { replace: true });
  };
  return (
    <>
      <Toolbar>
        <Picker
          label={t('Rating')}
          any={t('Any rating')}
          value={rating ?? undefined}
          choices={[
            { id: 'UP', name: t('Rated good') },
            { id: 'DOWN', name: t('Rated bad') },
          ]}
          onChange={(value) => change('rating', value)}
        />
        <Picker
          label={t('Agent')}
          any={t('Any agent')}
          value={agentId ?? undefined}
          choices={choices.agents}
          onChange={(value) => change('agent', value)}
        />
      </Toolbar>
      <ErrorNote error={page.error} onRetry={page.reload} />
      {page.isLoading ? <Skeleton lines={6} /> : null}
      {page.data !== undefined && more.nodes.length === 0 ? (
        <EmptyState icon={<ThumbsUp aria-hidden />} title={t('No ratings yet')}>
          {t('Under each answer of a chat there are two thumbs. What people say with them stands here.')}
        </EmptyState>
      ) : (
        <ul className={styles.list}>
          {more.nodes.map((feedback) => (
            <li key={feedback.id}>
              <FeedbackCard feedback={feedback} />
            </li>
          ))}
        </ul>
      )}
      <ShowMore pages={more} />
    </>
  );
}

function FeedbackCard({ feedback }: { readonly feedback: RatedAnswersQuery['feedback']['nodes'][number] }) {
  const { rating, comment, tags, updatedAt, agent, user, chat, message, runId } = feedback;
  const { t } = useText();
  const isGood = rating === 'UP';
  return (
    <Card>
      <div className={styles.cardHead}>
        <h2 className={styles.rating}>
          {isGood ? <ThumbsUp size={17} aria-hidden /> : <ThumbsDown size={17} aria-hidden />}
          {comment ?? (isGood ? t('Rated good') : t('Rated bad'))}
        </h2>
        <span className={styles.badges}>
          {tags.map((tag) => (
            <Badge key={tag} tone={isGood ? 'good' : 'bad'}>
              {tag}
            </Badge>
          ))}
        </span>
      </div>
      <p className={styles.quiet}>
        {[agent?.name, user?.name].filter((name) => name !== undefined).join(' · ')} · <Time at={updatedAt} />
      </p>
      {message === null ? null : <blockquote className={styles.quote}>{message.content}</blockquote>}
      <div className={styles.actions}>
        {runId === null || chat === null ? null : <AddToDataset runId={runId} agent={agent} />}
        {runId === null ? null : <Link href={`/runs/${runId}`}>{t('Show the run')}</Link>}
        {chat === null ? null : (
          <Link href={message === null ? `/chats/${chat.id}` : `/chats/${chat.id}?message=${message.id}`}>
            {t('Open the chat')}
          </Link>
        )}
      </div>
    </Card>
  );
}
