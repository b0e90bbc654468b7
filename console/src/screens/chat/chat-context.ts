import { createContext, type RefObject, useContext } from 'react';
import type { Chat_CitationFragment, Chat_HeadFragment } from './documents.ts';
import type { Transcript } from './transcript/transcript.ts';

/** The sources of one answer, as the panel beside it shows them. */
export interface OpenSources {
  /** The run that said the answer; undefined for a greeting. */
  readonly runId: string | undefined;
  /** Undefined while the answer is being said: its passages are not stored yet. */
  readonly messageId: string | undefined;
  readonly citations: readonly Chat_CitationFragment[];
  /** The source that is open. */
  readonly index: number;
  /** The sentence of the answer that cites it; empty where none is known. */
  readonly claim: string;
}

/** What the parts of a transcript need of the chat around them. */
export interface ChatAround {
  readonly chat: Chat_HeadFragment;
  readonly transcript: Transcript;
  /** Whether a run goes on: branches do not change then. */
  readonly isBusy: boolean;
  readonly models: readonly string[];
  /** The model of the next messages; undefined: that of the agent. */
  readonly chooseModel: (model: string | undefined) => void;
  readonly costCurrency: string | undefined;
  /** Where the next message is written; null in a chat that may only be read. */
  readonly box: RefObject<HTMLTextAreaElement | null>;
  readonly openSources: (sources: OpenSources) => void;
}

export const ChatContext = createContext<ChatAround | undefined>(undefined);

/** @throws Error outside of a chat. */
export function useChat(): ChatAround {
  const around = useContext(ChatContext);
  if (around === undefined) throw new Error('There is no chat around this component.');
  return around;
}
