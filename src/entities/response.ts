export const chatModes = ['execute', 'chat', 'plan'] as const;
export type ChatMode = (typeof chatModes)[number];

/** A member of a response in the form of the responses format, names in snake case. */
export type WireObject = Readonly<Record<string, unknown>>;

/** What all frames of a response repeat from its request. Written once, with `response.created`. */
export interface ResponseHead {
  /** Seconds since 1970. */
  readonly createdAt: number;
  readonly conversationId: string | null;
  /** Members of the response object that the run does not change, as the wire has them. */
  readonly echo: WireObject;
}

/** An input or output item that is kept. */
export interface ResponseItem {
  readonly itemId: string;
  readonly item: WireObject;
}
