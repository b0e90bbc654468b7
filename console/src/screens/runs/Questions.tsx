import { MessageCircleQuestion, Plus } from 'lucide-react';
import { Link, useLocation, useSearch } from 'wouter';
import { run } from '../../graphql/client.ts';
import { useLiveReload, useMorePages, usePage } from '../../graphql/hooks.ts';
import { useSession } from '../../parts/session/session.tsx';
import { useText } from '../../text/text.ts';
import { Badge, EmptyState, ErrorNote, ShowMore, Skeleton } from '../../ui/feedback.tsx';
import { ButtonLink } from '../../ui/form/button.tsx';
import { Card, Toolbar } from '../../ui/page.tsx';
import { Time } from '../../ui/small.tsx';
import { RunsChangedDocument, UnansweredQuestionsDocument, type UnansweredQuestionsQuery } from './documents.ts';
import { useRunChoices } from './list/choices.ts';
import { Picker } from './list/Picker.tsx';
import { Passages } from './Passages.tsx';
import { AddToDataset } from './run/AddToDataset.tsx';
import styles from './runs.module.css';
import { reasonWords } from './words.ts';

type Question = UnansweredQuestionsQuery['unansweredQuestions']['nodes'][number];

/** Questions that knowledge has no answer to, each with what was near and the way to mend it. */
export function Questions() {
  const { t } = useText();
  const params = new URLSearchParams(useSearch());
  const [, go] = useLocation();
  const agentId = params.get('agent');
  const choices = useRunChoices([agentId ?? undefined]);
  const page = usePage(UnansweredQuestionsDocument, { agentId });
  useLiveReload(RunsChangedDocument, {}, page.reload, { pauseMs: 1_000 });
  const more = useMorePages(withIds(page.data), (after) => run(UnansweredQuestionsDocument, { agentId, after }).then(withIds));
  return (
    <>
      <Toolbar>
        <Picker
          label={t('Agent')}
          any={t('Any agent')}
          value={agentId ?? undefined}
          choices={choices.agents}
          onChange={(agent) => go(agent === '' ? '/runs/questions' : `/runs/questions?agent=${agent}`, { replace: true })}
        />
      </Toolbar>
      <ErrorNote error={page.error} onRetry={page.reload} />
      {page.isLoading ? <Skeleton lines={6} /> : null}
      {page.data !== undefined && more.nodes.length === 0 ? (
        <EmptyState icon={<MessageCircleQuestion aria-hidden />} title={t('Every question has an answer')}>
          {t('Questions stand here when the knowledge of an agent has nothing about them, or when the answer was rated bad.')}
        </EmptyState>
      ) : (
        <ul className={styles.list}>
          {more.nodes.map((question) => (
            <li key={question.id}>
              <QuestionCard question={question} />
            </li>
          ))}
        </ul>
      )}
      <ShowMore pages={more} />
    </>
  );
}

function QuestionCard({ question: { question, reasons, passages, run: asked } }: { readonly question: Question }) {
  const { t } = useText();
  const { may } = useSession();
  return (
    <Card>
      <div className={styles.cardHead}>
        <h2 className={question === null ? styles.quiet : undefined}>{question ?? t('What was asked is not shown to you.')}</h2>
        <span className={styles.badges}>
          {reasons.map((reason) => (
            <Badge key={reason} tone={reason === 'RATED_DOWN' ? 'bad' : 'warn'}>
              {reasonWords(t)[reason]}
            </Badge>
          ))}
        </span>
      </div>
      <p className={styles.quiet}>
        {[asked.agent?.name, asked.user?.name].filter((name) => name !== undefined).join(' · ')} · <Time at={asked.createdAt} />
      </p>
      {passages.length === 0 ? null : <Passages title={t('Near matches')} passages={passages} />}
      <div className={styles.actions}>
        {asked.agent !== null && may('DATA_SOURCES_WRITE') ? (
          <ButtonLink size="small" href={`/knowledge?new&agent=${asked.agent.id}`} icon={<Plus size={15} aria-hidden />}>
            {t('Add knowledge')}
          </ButtonLink>
        ) : null}
        {asked.agent === null ? null : <Link href={`/agents/${asked.agent.id}/knowledge`}>{t('Knowledge of the agent')}</Link>}
        {asked.chat === null ? null : <AddToDataset runId={asked.id} agent={asked.agent} />}
        <Link href={`/runs/${asked.id}`}>{t('Show the run')}</Link>
        {asked.chat === null ? null : <Link href={`/chats/${asked.chat.id}`}>{t('Open the chat')}</Link>}
      </div>
    </Card>
  );
}

/** A question is named by its run. */
function withIds(data: UnansweredQuestionsQuery): { nodes: (Question & { id: string })[]; pageInfo: Pages };
function withIds(
  data: UnansweredQuestionsQuery | undefined,
): { nodes: (Question & { id: string })[]; pageInfo: Pages } | undefined;
function withIds(data: UnansweredQuestionsQuery | undefined) {
  if (data === undefined) return undefined;
  const { nodes, pageInfo } = data.unansweredQuestions;
  return { nodes: nodes.map((node) => ({ ...node, id: node.run.id })), pageInfo };
}
type Pages = UnansweredQuestionsQuery['unansweredQuestions']['pageInfo'];
