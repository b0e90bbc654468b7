import type { Settings } from '../../settings.ts';
import type { Database } from '../ground/database.ts';
import type { Signals } from '../ground/signals/signals.ts';
import { AccountStore } from './accounts.ts';
import { AppStore } from './apps/apps.ts';
import { OauthClientStore } from './apps/clients.ts';
import { OauthRecordStore } from './apps/records.ts';
import { GroupStore } from './groups/groups.ts';
import { ApiKeyStore } from './keys/api-keys.ts';
import { MembershipStore } from './memberships.ts';
import { OperatorStore } from './operators.ts';
import { OrganizationStore } from './organizations.ts';
import { RemovalStore } from './removals.ts';
import { ScimStore } from './scim.ts';
import { EndedSessionStore } from './sign-in/ended-sessions.ts';
import { IdentityStore } from './sign-in/identities.ts';
import { InvitationStore } from './sign-in/invitations.ts';
import { SignInLinkStore } from './sign-in/links.ts';
import { PasskeyStore } from './sign-in/passkeys.ts';
import { AttemptStore, PasswordStore } from './sign-in/passwords.ts';
import { SessionStore } from './sign-in/sessions.ts';
import { WayStore } from './sign-in/ways.ts';
import { TenancyStore } from './tenancy.ts';
import { TenantStore } from './tenants.ts';
import { UserStore } from './users.ts';

const dayMs = 86_400_000;

/** The stores of people, organizations and their keys. A new one is added here. */
export class PeopleStores {
  readonly accounts: AccountStore;
  readonly apiKeys: ApiKeyStore;
  readonly apps: AppStore;
  readonly oauthClients: OauthClientStore;
  readonly oauthRecords: OauthRecordStore;
  readonly sessions: SessionStore;
  readonly signInLinks: SignInLinkStore;
  readonly invitations: InvitationStore;
  readonly passkeys: PasskeyStore;
  readonly passwords: PasswordStore;
  readonly ways: WayStore;
  readonly removals: RemovalStore;
  readonly attempts: AttemptStore;
  readonly identities: IdentityStore;
  readonly groups: GroupStore;
  readonly tenancy: TenancyStore;
  readonly operators: OperatorStore;
  readonly tenants: TenantStore;
  readonly organizations: OrganizationStore;
  readonly users: UserStore;
  readonly memberships: MembershipStore;
  readonly scim: ScimStore;
  /** Sessions of MCP clients that have ended. */
  readonly endedSessions: EndedSessionStore;

  constructor(db: Database, signals: Signals, settings: Settings) {
    this.accounts = new AccountStore(db);
    this.apiKeys = new ApiKeyStore(db, signals);
    this.apps = new AppStore(db, signals, this.apiKeys);
    this.oauthClients = new OauthClientStore(db);
    this.oauthRecords = new OauthRecordStore(db);
    this.sessions = new SessionStore(db, signals, settings.SESSION_DAYS * dayMs);
    this.signInLinks = new SignInLinkStore(db);
    this.invitations = new InvitationStore(db, signals);
    this.passkeys = new PasskeyStore(db);
    this.passwords = new PasswordStore(db);
    this.ways = new WayStore(db, signals);
    this.removals = new RemovalStore(db);
    this.attempts = new AttemptStore(db);
    this.identities = new IdentityStore(db, signals);
    this.groups = new GroupStore(db, signals);
    this.tenancy = new TenancyStore(db, signals);
    this.operators = new OperatorStore(db, signals);
    this.tenants = new TenantStore(db);
    this.organizations = new OrganizationStore(db, signals);
    this.users = new UserStore(db, signals);
    this.memberships = new MembershipStore(db, signals);
    this.scim = new ScimStore(db, signals);
    this.endedSessions = new EndedSessionStore(db);
  }

  async close(): Promise<void> {
    await this.apiKeys.close();
    await this.sessions.close();
  }
}
