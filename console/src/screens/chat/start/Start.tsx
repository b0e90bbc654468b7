import { Bot, FolderOpen } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import { usePage } from '../../../graphql/hooks.ts';
import { useSession } from '../../../parts/session/session.tsx';
import { useText } from '../../../text/text.ts';
import { EmptyState, ErrorNote, Skeleton } from '../../../ui/feedback.tsx';
import { ButtonLink } from '../../../ui/form/button.tsx';
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
  const { may } = useSession();
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
  if (namedAgentId !== null && (data?.agent ?? null) === null) {
    if (error !== undefined && error.code !== 'NOT_FOUND') return <ErrorNote error={error} onRetry={reload} />;
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
        {t('It was deleted, or it is not shared with you any more. Nobody else was asked.')}
      </EmptyState>
    );
  }
  const project = data?.project ?? undefined;
  if (projectId !== null && project === undefined && (error === undefined || error.code === 'NOT_FOUND')) {
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
  const offered = project?.agents?.[0];
  const named = namedAgentId === null ? undefined : data?.agent;
  const agent = named ?? offered ?? data?.agent ?? data?.chats.nodes[0]?.agent ?? data?.agents.nodes[0];
  if (agent === undefined || agent === null) {
    if (error !== undefined) return <ErrorNote error={error} onRetry={reload} />;
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
  const { t } = useText();
  const [, go] = useLocation();
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
  const [isQuestionTaken, setQuestionTaken] = useState(question === null);
  useEffect(() => {
    if (question === null) return;
    getDraft('new').write(question);
    setQuestionTaken(true);
  }, [question]);
  const send = async (text: string) => {
    setShowsFaults(true);
    return faults.size > 0 ? false : first.send(text);
  };
  return (
    <div className={styles.start}>
      <header className={styles.bar}>
        <AgentPicker agent={agent} offered={project?.agents ?? []} onChoose={onChoose} />
        {project === undefined ? (
          <Switch
            label={t('Temporary chat')}
            isOn={false}
            disabled={agent.userInputs.length > 0}
            {...(agent.userInputs.length > 0
              ? { hint: t('It needs answers before a chat begins, which a temporary chat does not take.') }
              : {})}
            onChange={() => go(`/temporary?agent=${encodeURIComponent(agent.id)}`)}
          />
        ) : (
          <Link href={`/projects/${project.id}`} className={styles.project}>
            <FolderOpen size={16} aria-hidden /> {project.name}
          </Link>
        )}
      </header>
      <div className={styles.middle}>
        <div className={styles.welcome}>
          <Avatar name={agent.name} pictureUrl={agent.pictureUrl} size={56} />
          <h1>{agent.name}</h1>
          {agent.description === '' ? null : <p className={styles.description}>{agent.description}</p>}
          {agent.introduction === null || agent.introduction === '' ? null : <p>{agent.introduction}</p>}
        </div>
        <Inputs inputs={agent.userInputs} values={values} onChange={setValues} faults={showsFaults ? faults : new Map()} />
        <div className={styles.questions}>
          {listQuestions(agent, t('What can you help me with?')).map((sample) => (
            <button key={sample} type="button" disabled={first.isBusy} onClick={() => void send(sample)}>
              {sample}
            </button>
          ))}
        </div>
      </div>
      {isQuestionTaken ? (
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

const questionsMax = 4;

/** What the agent may be asked: the samples of its profile, else one question that fits every agent. */
function listQuestions({ profile }: Chat_AgentFragment, general: string): readonly string[] {
  const samples = profile.conversations.flatMap(({ question }) => (question === null || question === '' ? [] : [question]));
  return samples.length === 0 ? [general] : [...new Set(samples)].slice(0, questionsMax);
}
