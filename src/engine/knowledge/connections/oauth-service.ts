import type { Settings } from '../../../settings.ts';
import { SourceError } from '../connectors/error.ts';

/** How a service gives tokens, and what this instance is called there. */
export interface OauthService {
  /** The name in messages. */
  readonly name: string;
  readonly authorizeUrl: string;
  readonly tokenUrl: string;
  /** Undefined: the operator has not registered this instance. */
  readonly client: { readonly id: string; readonly secret: string } | undefined;
  /** The settings that `client` is made of. */
  readonly clientSettings: string;
  /** Read-only, and no more than connectors need. */
  readonly scopes: readonly string[];
  readonly usesPkce: boolean;
  /** How the token address takes its request. */
  readonly format: 'form' | 'json';
  /** Further members of the address that a person is sent to. */
  readonly authorizeMembers: Readonly<Record<string, string>>;
}

/** How the account of a person at one service is connected in the browser. */
export interface AccountService {
  oauth(settings: Settings): OauthService;
  /** Where a person installs an App, for a service that is read by an installation. @throws SourceError CONFIGURATION naming the settings that are missing. */
  installUrl?(settings: Settings, state: string): string;
  /**
   * What the account is called, for people.
   *
   * @param ask  reads an address of the service with the token of the person.
   * @throws SourceError FORBIDDEN for an account that the person may not show, or for an installation of somebody else.
   */
  name(settings: Settings, ask: (url: string) => Promise<unknown>, installationId: number | undefined): Promise<string>;
}

export function toClient(id: string | undefined, secret: string | undefined): OauthService['client'] {
  return id === undefined || secret === undefined ? undefined : { id, secret };
}

/** The first text that says something. */
export function findText(...candidates: readonly unknown[]): string {
  const text = candidates.find((each) => typeof each === 'string' && each.trim() !== '');
  return typeof text === 'string' ? text.trim().slice(0, 200) : 'Account';
}

export function notRegistered(name: string, settings: string): SourceError {
  return new SourceError('CONFIGURATION', `This instance cannot connect ${name}: its operator has to set ${settings}`);
}
