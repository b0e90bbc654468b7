import { ChevronDown } from 'lucide-react';
import { useDeferredValue, useState } from 'react';
import { useList } from '../../../graphql/hooks.ts';
import { useText } from '../../../text/text.ts';
import { ErrorNote, ShowMore, Skeleton } from '../../../ui/feedback.tsx';
import { SearchInput } from '../../../ui/form/field.tsx';
import { Dialog } from '../../../ui/overlay/dialog.tsx';
import { Avatar } from '../../../ui/small.tsx';
import { type Chat_AgentFragment, ChatAgentsDocument } from '../documents.ts';
import styles from './start.module.css';

/** Shows which agent is asked, and lets the reader choose another one. */
export function AgentPicker({
  agent,
  offered,
  onChoose,
}: {
  readonly agent: Chat_AgentFragment;
  /** Those of the project, which stand first. */
  readonly offered: readonly Chat_AgentFragment[];
  readonly onChoose: (id: string) => void;
}) {
  const { t } = useText();
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button
        type="button"
        className={styles.picker}
        aria-haspopup="dialog"
        aria-label={t('Agent: {name}', { name: agent.name })}
        onClick={() => setOpen(true)}
      >
        <Avatar name={agent.name} pictureUrl={agent.pictureUrl} />
        <span>{agent.name}</span>
        <ChevronDown size={16} aria-hidden />
      </button>
      <Dialog title={t('Choose an agent')} isOpen={isOpen} onClose={() => setOpen(false)}>
        {isOpen ? (
          <AgentChoice
            current={agent.id}
            offered={offered}
            onChoose={(id) => {
              setOpen(false);
              onChoose(id);
            }}
          />
        ) : null}
      </Dialog>
    </>
  );
}

function AgentChoice({
  current,
  offered,
  onChoose,
}: {
  readonly current: string;
  readonly offered: readonly Chat_AgentFragment[];
  readonly onChoose: (id: string) => void;
}) {
  const { t } = useText();
  const [typed, setTyped] = useState('');
  const search = useDeferredValue(typed.trim()) || null;
  const { error, isLoading, pages: more } = useList(ChatAgentsDocument, { search, after: null }, (data) => data.agents);
  const first = search === null ? offered : [];
  const shown = [...first, ...more.nodes.filter(({ id }) => !first.some((agent) => agent.id === id))];
  return (
    <>
      <SearchInput label={t('Search agents')} value={typed} onChange={setTyped} />
      <ErrorNote error={error} />
      {isLoading ? <Skeleton lines={4} /> : null}
      {!isLoading && shown.length === 0 ? <p>{t('Nothing found')}</p> : null}
      <ul className={styles.agents}>
        {shown.map(({ id, name, description, pictureUrl }) => (
          <li key={id}>
            <button type="button" aria-current={id === current || undefined} onClick={() => onChoose(id)}>
              <Avatar name={name} pictureUrl={pictureUrl} size={40} />
              <span>
                <strong>{name}</strong>
                <small>{description}</small>
              </span>
            </button>
          </li>
        ))}
      </ul>
      <ShowMore pages={more} />
    </>
  );
}
