import type { ParleyError } from '@parley/client';
import { useState } from 'react';
import { readableError, run } from '../../../graphql/client.ts';
import { ErrorNote } from '../../../ui/feedback.tsx';
import type { ChatAround } from '../chat-context.ts';
import { CompareButton } from '../compare/CompareButton.tsx';
import { type CompareChoice, readChoices, storeChoices } from '../compare/choices.ts';
import { ChatStopDocument } from '../documents.ts';
import { ModelPicker } from '../start/ModelPicker.tsx';
import { useAttachments } from './attachments.ts';
import { Composer } from './Composer.tsx';
import { Queue } from './Queue.tsx';
import { useSending } from './use-sending.ts';

/** Below what was said: what waits, and the box for the next message, with who answers it. */
export function Foot({
  around: { chat, transcript, models, chooseModel, box },
  runIds,
  model,
  fileMaxBytes,
}: {
  readonly around: ChatAround;
  /** Runs that go on: one, or several beside each other. */
  readonly runIds: readonly string[];
  readonly model: string | undefined;
  readonly fileMaxBytes: number | undefined;
}) {
  const attachments = useAttachments(chat.id);
  const [choices, setChoices] = useState<readonly CompareChoice[]>(() => readChoices(chat.id));
  const sending = useSending(transcript, attachments, model, choices);
  const { stop, isStopping, error } = useStop(runIds);
  const own = chat.agent?.modelId ?? chat.modelId ?? undefined;
  return (
    <>
      <ErrorNote error={error} />
      <Queue chat={chat} transcript={transcript} />
      <Composer
        box={box}
        place={chat.id}
        seed=""
        attachments={attachments}
        fileMaxBytes={fileMaxBytes}
        sending={sending}
        onStop={runIds.length === 0 ? undefined : stop}
        isStopping={isStopping}
      >
        <ModelPicker models={models} own={own} chosen={model} onChoose={chooseModel} />
        <CompareButton
          models={models}
          own={{ agentId: chat.agent?.id, modelId: model ?? own }}
          choices={choices}
          onChoose={(next) => {
            storeChoices(chat.id, next);
            setChoices(next);
          }}
        />
      </Composer>
    </>
  );
}

/** Stops all runs that go on. */
function useStop(runIds: readonly string[]) {
  const [isStopping, setStopping] = useState(false);
  const [error, setError] = useState<ParleyError>();
  const stop = async () => {
    setStopping(true);
    setError(undefined);
    const results = await Promise.allSettled(runIds.map((runId) => run(ChatStopDocument, { runId })));
    const refusal = results.find(({ status }) => status === 'rejected');
    if (refusal?.status === 'rejected') setError(readableError(refusal.reason));
    setStopping(false);
  };
  return { stop: () => void stop(), isStopping, error };
}
