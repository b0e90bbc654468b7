import type { ParleyError } from '@parley/client';
import { type ReactNode, useState } from 'react';
import { readableError, run } from '../../../graphql/client.ts';
import { useText } from '../../../text/text.ts';
import { Badge, ErrorNote } from '../../../ui/feedback.tsx';
import { Button } from '../../../ui/form/button.tsx';
import { TextAreaField } from '../../../ui/form/fields.tsx';
import { useChat } from '../chat-context.ts';
import {
  type Chat_CallFragment,
  type Chat_MessageFragment,
  ChatSubmitOutputsDocument,
  type ToolOutputStatus,
} from '../documents.ts';
import styles from './calls.module.css';

export interface CallAnswer {
  readonly status: ToolOutputStatus;
  readonly output: string;
}

/** The calls that an answer waits for: those that a person approves or refuses, and functions whose output a person gives. */
export function Calls({ messages, isLast }: { readonly messages: readonly Chat_MessageFragment[]; readonly isLast: boolean }) {
  const { chat, transcript, isBusy } = useChat();
  const asking = messages.findLast(({ toolCalls }) => toolCalls.length > 0);
  const [answers, setAnswers] = useCallAnswers(asking?.id ?? '');
  const [error, setError] = useState<ParleyError>();
  if (asking === undefined) return null;
  const answersByCall = new Map(messages.flatMap((each) => (each.toolCallId === null ? [] : [[each.toolCallId, each] as const])));
  const answer = async (id: string, reply: CallAnswer) => {
    const all = { ...answers, [id]: reply };
    setAnswers(all);
    setError(undefined);
    const outputs = asking.toolCalls.flatMap((call) => {
      const its = all[call.id];
      return its === undefined ? [] : [{ toolCallId: call.id, ...its }];
    });
    // The service takes the outputs of all calls at once.
    if (outputs.length < asking.toolCalls.length) return;
    // A page that is loaded again before the service has them all asks again.
    forgetAnswers(asking.id);
    try {
      const result = await run(ChatSubmitOutputsDocument, { chatId: chat.id, input: { systemMessageId: asking.id, outputs } });
      transcript.takeBegun(result.submitToolOutputs);
    } catch (cause) {
      setAnswers({});
      setError(readableError(cause));
    }
  };
  return (
    <CallCards
      calls={asking.toolCalls}
      answers={answers}
      findOutcome={(id) => answersByCall.get(id)?.toolStatus ?? undefined}
      isOpen={isLast && !isBusy && chat.canWrite}
      onAnswer={(id, reply) => void answer(id, reply)}
    >
      <ErrorNote error={error} />
    </CallCards>
  );
}

/** @param answers  those that are given, while the service has not taken them: it takes the answers to all calls at once. */
export function CallCards({
  calls,
  answers,
  findOutcome,
  isOpen,
  onAnswer,
  children,
}: {
  readonly calls: readonly Chat_CallFragment[];
  readonly answers: Readonly<Record<string, CallAnswer>>;
  /** What came of a call whose answer the service has. */
  readonly findOutcome?: (callId: string) => ToolOutputStatus | undefined;
  readonly isOpen: boolean;
  readonly onAnswer: (callId: string, answer: CallAnswer) => void;
  readonly children?: ReactNode;
}) {
  return (
    <div className={styles.calls}>
      {calls.map((call, index) => {
        const outcome = findOutcome?.(call.id);
        const answer = answers[call.id];
        const isAsked = isOpen && outcome === undefined;
        return (
          <CallCard
            key={call.id}
            call={call}
            outcome={outcome ?? answer?.status}
            place={calls.length === 1 ? '' : ` ${index + 1}/${calls.length}`}
            isWaiting={isAsked && answer !== undefined}
            isOpen={isAsked && answer === undefined}
            onAnswer={(reply) => onAnswer(call.id, reply)}
          />
        );
      })}
      {children}
    </div>
  );
}

const storedAs = (messageId: string) => `parley.calls.${messageId}`;
const forgetAnswers = (messageId: string) => sessionStorage.removeItem(storedAs(messageId));

/** The answers to the calls of a message until all are there. They outlive a reload of the page. */
function useCallAnswers(messageId: string) {
  const [answers, setAnswers] = useState((): Readonly<Record<string, CallAnswer>> => {
    const stored = sessionStorage.getItem(storedAs(messageId));
    return stored === null ? {} : (JSON.parse(stored) as Readonly<Record<string, CallAnswer>>);
  });
  const change = (next: Readonly<Record<string, CallAnswer>>) => {
    setAnswers(next);
    sessionStorage.setItem(storedAs(messageId), JSON.stringify(next));
  };
  return [answers, change] as const;
}

function CallCard({
  call,
  outcome,
  place,
  isWaiting,
  isOpen,
  onAnswer,
}: {
  readonly call: Chat_CallFragment;
  readonly outcome: ToolOutputStatus | undefined;
  /** Which of several calls it is, behind its title. */
  readonly place: string;
  /** It is answered here, and another call of the message is not: the service takes the answers of all at once. */
  readonly isWaiting: boolean;
  readonly isOpen: boolean;
  readonly onAnswer: (answer: CallAnswer) => void;
}) {
  const { t } = useText();
  const isApproval = call.approval === true;
  const [text, setText] = useState(() => indented(call.arguments));
  const [output, setOutput] = useState('');
  const fault = isApproval ? findFault(text) : undefined;
  const title = isApproval
    ? t('May it call {name}?', { name: call.name })
    : t('It asks for the output of {name}', { name: call.name });
  const approve = () => onAnswer({ status: 'SUCCESS', output: text === indented(call.arguments) ? '' : text });
  return (
    <section className={styles.call} aria-label={`${title}${place}`}>
      <header>
        <h3>
          {title}
          {place}
        </h3>
        {outcome === undefined ? null : <OutcomeBadge outcome={outcome} isApproval={isApproval} />}
      </header>
      {isWaiting ? <p role="status">{t('This waits for the answer to the other call.')}</p> : null}
      {isOpen && isApproval ? (
        <TextAreaField
          label={t('Arguments')}
          error={fault === undefined ? undefined : t('This is no JSON object.')}
          hint={t('What you change here is what it is called with.')}
          value={text}
          spellCheck={false}
          onChange={setText}
        />
      ) : (
        <pre>{indented(call.arguments)}</pre>
      )}
      {isOpen && !isApproval ? (
        <TextAreaField
          label={t('Output')}
          hint={t('The agent reads this as what the function gave.')}
          value={output}
          onChange={setOutput}
        />
      ) : null}
      {isOpen ? (
        <footer>
          <Button onClick={() => onAnswer({ status: 'CANCELLED', output: '' })}>
            {isApproval ? t('Deny') : t('Do not answer')}
          </Button>
          {isApproval ? (
            <Button variant="primary" disabled={fault !== undefined} onClick={approve}>
              {t('Approve')}
            </Button>
          ) : (
            <Button variant="primary" onClick={() => onAnswer({ status: 'SUCCESS', output })}>
              {t('Give the output')}
            </Button>
          )}
        </footer>
      ) : null}
    </section>
  );
}

function OutcomeBadge({ outcome, isApproval }: { readonly outcome: ToolOutputStatus; readonly isApproval: boolean }) {
  const { t } = useText();
  if (outcome === 'CANCELLED') return <Badge tone="warn">{isApproval ? t('Denied') : t('Not answered')}</Badge>;
  if (outcome === 'ERROR') return <Badge tone="bad">{t('Failed')}</Badge>;
  return <Badge tone="good">{isApproval ? t('Approved') : t('Answered')}</Badge>;
}

function indented(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), undefined, 2);
  } catch {
    return json;
  }
}

/** Why a text is no JSON object; undefined for one. */
function findFault(text: string): 'no object' | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? undefined : 'no object';
  } catch {
    return 'no object';
  }
}
