/** The origin of a call, as audit entries show it. */
export interface CallOrigin {
  /** Finds the call in the logs. */
  readonly requestId: string;
  /** The network address of the client; undefined for calls that did not come over a network. */
  readonly address: string | undefined;
}
