import type { Database } from '../ground/database.ts';
import type { Signals } from '../ground/signals/signals.ts';
import { AgentStore } from './agents.ts';
import { AgentCategoryStore } from './categories.ts';
import { GrantStore } from './grants.ts';
import { GuardStore } from './guards.ts';
import { AgentPartStore } from './parts/parts.ts';
import { AgentRatingStore } from './ratings.ts';
import { ToolNameStore } from './tool-names.ts';
import { AgentVersionStore } from './versions/versions.ts';

/** Agents, and the stores of what belongs to them. A new one is added here. */
export class AgentStores extends AgentStore {
  readonly categories: AgentCategoryStore;
  readonly ratings: AgentRatingStore;
  readonly parts: AgentPartStore;
  readonly grants: GrantStore;
  readonly guards: GuardStore;
  /** Names of agents for MCP clients. */
  readonly toolNames: ToolNameStore;
  readonly versions: AgentVersionStore;

  constructor(db: Database, signals: Signals) {
    super(db, signals);
    this.categories = new AgentCategoryStore(db);
    this.ratings = new AgentRatingStore(db, signals);
    this.parts = new AgentPartStore(db, signals);
    this.grants = new GrantStore(db);
    this.guards = new GuardStore(db, signals);
    this.toolNames = new ToolNameStore(db);
    this.versions = new AgentVersionStore(db, signals);
  }
}
