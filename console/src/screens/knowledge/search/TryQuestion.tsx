import { MessageSquare, Search } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { useMutate } from '../../../graphql/hooks.ts';
import { useText } from '../../../text/text.ts';
import { ErrorNote, Note } from '../../../ui/feedback.tsx';
import { Button, ButtonLink } from '../../../ui/form/button.tsx';
import { TextInput } from '../../../ui/form/field.tsx';
import { TrySearchDocument, type TrySearchQuery } from '../documents.ts';
import { Hit } from './Hit.tsx';
import styles from './search.module.css';

type Found = TrySearchQuery['searchKnowledge'];

/** Searches as an answer would, and says why each passage was found. Beside it, the question goes to an agent. */
export function TryQuestion({
  place,
  agents,
}: {
  readonly place: { readonly agentId: string } | { readonly dataSourceIds: string[] };
  readonly agents: readonly { readonly id: string; readonly name: string }[];
}) {
  const { t } = useText();
  const [question, setQuestion] = useState('');
  const [found, setFound] = useState<Found>();
  const search = useMutate(TrySearchDocument);
  const [agent] = agents;
  const send = async (event: FormEvent) => {
    event.preventDefault();
    const query = question.trim();
    if (query === '') return;
    const result = await search.run({ input: { query, limit: 20, ...place } });
    setFound(result?.searchKnowledge);
  };
  return (
    <>
      <form className={styles.ask} onSubmit={(event) => void send(event)}>
        <TextInput
          aria-label={t('Question')}
          placeholder={t('Ask as your colleagues would')}
          maxLength={8_000}
          value={question}
          onChange={({ target }) => setQuestion(target.value)}
        />
        <Button type="submit" variant="primary" icon={<Search size={16} aria-hidden />} isBusy={search.isBusy}>
          {t('Try')}
        </Button>
        {agent === undefined ? null : (
          <ButtonLink
            icon={<MessageSquare size={16} aria-hidden />}
            href={`/?${new URLSearchParams({ agent: agent.id, ...(question.trim() === '' ? {} : { question: question.trim() }) })}`}
          >
            {t('Ask {agent}', { agent: agent.name })}
          </ButtonLink>
        )}
      </form>
      <ErrorNote error={search.error} />
      {found === undefined ? null : <Results found={found} />}
    </>
  );
}

function Results({ found: { query, retrieval, hits } }: { readonly found: Found }) {
  const { t } = useText();
  const reasons = {
    MODEL_CHANGED: t('The passages are indexed by another model of meaning than the one that is set.'),
    NOT_READY: t('Not all passages are indexed by meaning yet.'),
    NO_EXTENSION: t('The database has no extension for vectors.'),
    PROVIDER: t('The model of meaning failed or refused.'),
    QUOTA: t('The organization has no tokens left for searching by meaning.'),
    TIMEOUT: t('The model of meaning took too long.'),
  };
  const lexicalMax = Math.max(0, ...hits.map(({ scores }) => scores.lexical ?? 0));
  const rerankMax = Math.max(0, ...hits.map(({ scores }) => scores.rerank ?? 0));
  const mode = retrieval.mode === 'HYBRID' ? t('Searched by words and by meaning') : t('Searched by words');
  return (
    <section className={styles.results} aria-label={t('Passages')}>
      <p className={styles.summary} role="status">
        {hits.length === 0
          ? t('No matching passages')
          : t('{count, plural, one {# passage} other {# passages}}', { count: hits.length })}{' '}
        · {mode}
        {retrieval.isReranked ? ` · ${t('ordered by a reranker')}` : ''}
      </p>
      {retrieval.reason === null ? null : <Note tone="warn">{reasons[retrieval.reason]}</Note>}
      {query.rewrite === 'NONE' ? null : <Note>{t('It was searched for: {text}', { text: query.text })}</Note>}
      {hits.length === 0 ? (
        <p className={styles.quiet}>
          {t('An agent would answer without knowledge here. Add what is missing, or try the words that your documents use.')}
        </p>
      ) : null}
      <ol className={styles.hits}>
        {hits.map((hit) => (
          <Hit key={hit.passageId} hit={hit} maxima={{ lexical: lexicalMax, rerank: rerankMax }} />
        ))}
      </ol>
    </section>
  );
}
