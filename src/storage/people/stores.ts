import type { Settings } from '../../settings.ts';
import type { Database } from '../ground/database.ts';
import type { Signals } from '../ground/signals/signals.ts';
import { PublishingStore } from '../ground/store.ts';
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
export class PeopleStores extends PublishingStore {
  readonly accounts = new AccountStore(this.db);
  readonly apiKeys = new ApiKeyStore(this.db, this.signals);
  readonly apps = new AppStore(this.db, this.signals, this.apiKeys);
  readonly oauthClients = new OauthClientStore(this.db);
  readonly oauthRecords = new OauthRecordStore(this.db);
  readonly sessions: SessionStore;
  readonly signInLinks = new SignInLinkStore(this.db);
  readonly invitations = new InvitationStore(this.db, this.signals);
  readonly passkeys = new PasskeyStore(this.db);
  readonly passwords = new PasswordStore(this.db);
  readonly ways = new WayStore(this.db, this.signals);
  readonly removals = new RemovalStore(this.db);
  readonly attempts = new AttemptStore(this.db);
  readonly identities = new IdentityStore(this.db, this.signals);
  readonly groups = new GroupStore(this.db, this.signals);
  readonly tenancy = new TenancyStore(this.db, this.signals);
  readonly operators = new OperatorStore(this.db, this.signals);
  readonly tenants = new TenantStore(this.db);
  readonly organizations = new OrganizationStore(this.db, this.signals);
  readonly users = new UserStore(this.db, this.signals);
  readonly memberships = new MembershipStore(this.db, this.signals);
  readonly scim = new ScimStore(this.db, this.signals);
  /** Sessions of MCP clients that have ended. */
  readonly endedSessions = new EndedSessionStore(this.db);

  constructor(db: Database, signals: Signals, settings: Settings) {
    super(db, signals);
    this.sessions = new SessionStore(db, signals, settings.SESSION_DAYS * dayMs);
  }

  async close(): Promise<void> {
    await this.apiKeys.close();
    await this.sessions.close();
  }
}
