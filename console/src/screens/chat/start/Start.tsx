import { FolderOpen } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import { usePage } from '../../../graphql/hooks.ts';
import { useText } from '../../../text/text.ts';
import { ErrorNote, Skeleton } from '../../../ui/feedback.tsx';
import { Switch } from '../../../ui/form/field.tsx';
import { useTitle } from '../../../ui/page.tsx';
import { Avatar } from '../../../ui/small.tsx';
import { CompareButton } from '../compare/CompareButton.tsx';
import type { CompareChoice } from '../compare/choices.ts';
import { useAttachments } from '../composer/attachments.ts';
import { Composer } from '../composer/Composer.tsx';
import { getDraft } from '../composer/draft.ts';
import { type Chat_AgentFragment, type Chat_ProjectFragment, ChatSettingsDocument, ChatStartDocument } from '../documents.ts';
import { AgentPicker } from './AgentPicker.tsx';
import { AgentGone, NoAgent, ProjectGone } from './Gone.tsx';
import { Inputs } from './Inputs.tsx';
import { inputFaults, startValues, type Values } from './inputs.ts';
import { ModelPicker } from './ModelPicker.tsx';
import styles from './start.module.css';
import { useFirstMessage } from './use-first-message.ts';

const agentStoredAs = 'parley.agent';

/** The place of a new chat: which agent answers, what it can be asked, and the box. `?agent=` and `?question=` fill it in. */
export function Start() {
  const search = new URLSearchParams(useSearch());
  const namedAgentId = search.get('agent');
  const projectId = search.get('project');
  // What was loaded for another agent or project is not shown for this one.
  return (
    <StartPage
      key={`${namedAgentId} ${projectId}`}
      namedAgentId={namedAgentId}
      projectId={projectId}
      question={search.get('question')}
    />
  );
}

function StartPage({
  namedAgentId,
  projectId,
  question,
}: {
  readonly namedAgentId: string | null;
  readonly projectId: string | null;
  readonly question: string | null;
}) {
  const { t } = useText();
  const [, go] = useLocation();
  const preferredAgentId = namedAgentId ?? localStorage.getItem(agentStoredAs);
  const { data, error, isLoading, reload } = usePage(ChatStartDocument, {
    agentId: preferredAgentId ?? '',
    hasAgent: preferredAgentId !== null,
    projectId: projectId ?? '',
    hasProject: projectId !== null,
  });
  useTitle(t('New chat'));
  if (isLoading) {
    return (
      <div className={styles.start}>
        <Skeleton lines={4} />
      </div>
    );
  }
  const failure = <ErrorNote error={error} onRetry={reload} />;
  const isNotThere = error === undefined || error.code === 'NOT_FOUND';
  const named = namedAgentId === null ? undefined : (data?.agent ?? null);
  if (named === null) {
    if (!isNotThere) return failure;
    return <AgentGone>{t('It was deleted, or it is not shared with you any more. Nobody else was asked.')}</AgentGone>;
  }
  const project = data?.project ?? undefined;
  if (projectId !== null && project === undefined && isNotThere) return <ProjectGone />;
  const agent = named ?? project?.agents?.[0] ?? data?.agent ?? data?.chats.nodes[0]?.agent ?? data?.agents.nodes[0];
  if (agent === undefined) return error === undefined ? <NoAgent /> : failure;
  const choose = (id: string) => {
    localStorage.setItem(agentStoredAs, id);
    const inProject = projectId === null ? '' : `&project=${encodeURIComponent(projectId)}`;
    go(`/?agent=${encodeURIComponent(id)}${inProject}`, { replace: true });
  };
  return (
    <StartWith key={`${agent.id} ${question ?? ''}`} agent={agent} project={project} question={question} onChoose={choose} />
  );
}

function StartWith({
  agent,
  project,
  question,
  onChoose,
}: {
  readonly agent: Chat_AgentFragment;
  readonly project: Chat_ProjectFragment | undefined;
  readonly question: string | null;
  readonly onChoose: (id: string) => void;
}) {
  const { data } = usePage(ChatSettingsDocument, {});
  const box = useRef<HTMLTextAreaElement>(null);
  const attachments = useAttachments(undefined);
  const [model, setModel] = useState<string>();
  const [values, setValues] = useState<Values>(() => startValues(agent.userInputs));
  const [showsFaults, setShowsFaults] = useState(false);
  const faults = inputFaults(agent.userInputs, values);
  const [choices, setChoices] = useState<readonly CompareChoice[]>([]);
  const first = useFirstMessage(agent, attachments, model, values, choices, project?.id);
  const models = (data?.models ?? []).map(({ id }) => id);
  const isBoxReady = useQuestion(question);
  const send = async (text: string) => {
    setShowsFaults(true);
    return faults.size > 0 ? false : first.send(text);
  };
  return (
    <div className={styles.start}>
      <Bar agent={agent} project={project} onChoose={onChoose} />
      <div className={styles.middle}>
        <Welcome agent={agent} />
        <Inputs inputs={agent.userInputs} values={values} onChange={setValues} faults={showsFaults ? faults : new Map()} />
        <Samples agent={agent} isDisabled={first.isBusy} onAsk={(sample) => void send(sample)} />
      </div>
      {isBoxReady ? (
        <Composer
          box={box}
          place="new"
          seed={agent.seed ?? ''}
          attachments={attachments}
          fileMaxBytes={data?.viewer.limits.chatFileMaxBytes}
          sending={{ ...first, send }}
          onStop={undefined}
          isStopping={false}
        >
          <ModelPicker models={models} own={agent.modelId} chosen={model} onChoose={setModel} />
          <CompareButton
            models={models}
            own={{ agentId: agent.id, modelId: model ?? agent.modelId }}
            choices={choices}
            onChoose={setChoices}
          />
        </Composer>
      ) : null}
    </div>
  );
}

/** Writes the question of the address into the box. @returns whether the box can be shown: it begins with its draft. */
function useQuestion(question: string | null): boolean {
  const [isTaken, setTaken] = useState(question === null);
  useEffect(() => {
    if (question === null) return;
    getDraft('new').write(question);
    setTaken(true);
  }, [question]);
  return isTaken;
}

/** Which agent answers, and in which project, or whether the chat is stored at all. */
function Bar({
  agent,
  project,
  onChoose,
}: {
  readonly agent: Chat_AgentFragment;
  readonly project: Chat_ProjectFragment | undefined;
  readonly onChoose: (id: string) => void;
}) {
  const { t } = useText();
  const [, go] = useLocation();
  const asksFirst = agent.userInputs.length > 0;
  return (
    <header className={styles.bar}>
      <AgentPicker agent={agent} offered={project?.agents ?? []} onChoose={onChoose} />
      {project === undefined ? (
        <Switch
          label={t('Temporary chat')}
          isOn={false}
          disabled={asksFirst}
          hint={asksFirst ? t('It needs answers before a chat begins, which a temporary chat does not take.') : undefined}
          onChange={() => go(`/temporary?agent=${encodeURIComponent(agent.id)}`)}
        />
      ) : (
        <Link href={`/projects/${project.id}`} className={styles.project}>
          <FolderOpen size={16} aria-hidden /> {project.name}
        </Link>
      )}
    </header>
  );
}

function Welcome({ agent: { name, pictureUrl, description, introduction } }: { readonly agent: Chat_AgentFragment }) {
  return (
    <div className={styles.welcome}>
      <Avatar name={name} pictureUrl={pictureUrl} size={56} />
      <h1>{name}</h1>
      {description === '' ? null : <p className={styles.description}>{description}</p>}
      {introduction === null || introduction === '' ? null : <p>{introduction}</p>}
    </div>
  );
}

/** Questions to begin with by a click. */
function Samples({
  agent,
  isDisabled,
  onAsk,
}: {
  readonly agent: Chat_AgentFragment;
  readonly isDisabled: boolean;
  readonly onAsk: (question: string) => void;
}) {
  const { t } = useText();
  return (
    <div className={styles.questions}>
      {listQuestions(agent, t('What can you help me with?')).map((sample) => (
        <button key={sample} type="button" disabled={isDisabled} onClick={() => onAsk(sample)}>
          {sample}
        </button>
      ))}
    </div>
  );
}

const questionsMax = 4;

/** What the agent may be asked: the samples of its profile, else one question that fits every agent. */
function listQuestions({ profile }: Chat_AgentFragment, general: string): readonly string[] {
  const samples = profile.conversations.flatMap(({ question }) => (question === null || question === '' ? [] : [question]));
  return samples.length === 0 ? [general] : [...new Set(samples)].slice(0, questionsMax);
}
