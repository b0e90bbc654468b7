import type { ParleyError } from '@parley/client';
import { useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { readableError, run } from '../../../graphql/client.ts';
import { useErrorToast } from '../../../ui/overlay/toasts.tsx';
import { beginComparison, type CompareChoice, storeChoices } from '../compare/choices.ts';
import type { Attachments } from '../composer/attachments.ts';
import { getDraft } from '../composer/draft.ts';
import { readPrompt } from '../composer/prompt.ts';
import type { Sending } from '../composer/sending.ts';
import {
  type Chat_AgentFragment,
  type Chat_HeadFragment,
  ChatCreateDocument,
  ChatDeleteDocument,
  ChatSendDocument,
} from '../documents.ts';
import { getTranscript } from '../transcript/transcript.ts';
import { chooseModel } from './chosen-model.ts';
import { givenValues, type Values } from './inputs.ts';

/** Begins a chat with its first message, and opens it. What fails can be tried again: the chat is made once. */
export function useFirstMessage(
  agent: Chat_AgentFragment,
  attachments: Attachments,
  model: string | undefined,
  values: Values,
  choices: readonly CompareChoice[],
  projectId: string | undefined,
): Sending {
  const sayError = useErrorToast();
  const [, go] = useLocation();
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<ParleyError>();
  const chatRef = useRef<Chat_HeadFragment>(undefined);
  /** A reply was lost, so that the message may be in the chat. */
  const mayBeUsed = useRef(false);
  /** Leaves no empty chat behind. One that cannot be deleted is used for the next try. */
  const takeBack = async () => {
    const id = chatRef.current?.id;
    if (id === undefined || mayBeUsed.current) return;
    try {
      await run(ChatDeleteDocument, { id });
      chatRef.current = undefined;
      attachments.forget();
    } catch {
      // The message is refused for a reason that is said already.
    }
  };
  const send = async (text: string) => {
    setBusy(true);
    setError(undefined);
    let isAsked = false;
    try {
      const userInputs = givenValues(agent.userInputs, values);
      const input = { userInputs, projectId: projectId ?? null };
      chatRef.current ??= (await run(ChatCreateDocument, { agentId: agent.id, input })).createChat;
      const chat = chatRef.current;
      const fileIds = await attachments.sendTo(chat.id);
      if (fileIds === undefined) {
        await takeBack();
        return false;
      }
      const message = { prompt: readPrompt(text, fileIds), modelId: model ?? null, date: new Date().toISOString() };
      isAsked = true;
      const { sendMessage } = await run(ChatSendDocument, { chatId: chat.id, input: message });
      chooseModel(chat.id, model);
      // What was written while the message was on its way goes on in the chat.
      getDraft('new').moveTo(chat.id);
      const transcript = getTranscript(chat.id, chat);
      transcript.takeBegun(sendMessage);
      storeChoices(chat.id, choices);
      const questionId = sendMessage.messages.findLast(({ role }) => role === 'USER')?.id;
      if (questionId !== undefined) void beginComparison(transcript, questionId, choices).catch(sayError);
      go(`/chats/${chat.id}`);
      return true;
    } catch (cause) {
      const refusal = readableError(cause);
      if (isAsked && (refusal.code === undefined || refusal.code === 'NO_ANSWER')) mayBeUsed.current = true;
      setError(refusal);
      await takeBack();
      return false;
    } finally {
      setBusy(false);
    }
  };
  return { send, isBusy, error };
}
