/** What the person confirms: whose account it is, and whom it will serve. */
export interface Confirmation {
  readonly kind: 'CONFIRM';
  /** Confirms it, once. */
  readonly word: string;
  /** One of IntegrationProvider. */
  readonly provider: string;
  /** The other service, by the name that people know. */
  readonly service: string;
  readonly account: string;
  readonly person: { readonly name: string; readonly email: string };
  readonly organization: string;
  readonly tenant: string;
}

export interface Connected {
  readonly kind: 'CONNECTED';
  readonly name: string;
  /** Where the person goes then. */
  readonly returnTo: string | null;
}

export interface Refusal {
  readonly kind: 'REFUSED';
  readonly message: string;
}

/** What the service wrote into the page that it answered with: nothing in the address can change it. */
export function readOutcome(): Confirmation | Connected | Refusal | undefined {
  const text = document.querySelector<HTMLMetaElement>('meta[name="parley-outcome"]')?.content;
  return text === undefined ? undefined : JSON.parse(text);
}
