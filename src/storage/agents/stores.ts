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
  readonly categories = new AgentCategoryStore(this.db);
  readonly ratings = new AgentRatingStore(this.db, this.signals);
  readonly parts = new AgentPartStore(this.db, this.signals);
  readonly grants = new GrantStore(this.db);
  readonly guards = new GuardStore(this.db, this.signals);
  /** Names of agents for MCP clients. */
  readonly toolNames = new ToolNameStore(this.db);
  readonly versions = new AgentVersionStore(this.db, this.signals);
}
