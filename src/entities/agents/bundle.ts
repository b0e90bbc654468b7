import type { Scorer } from '../conversations/evaluation/experiment.ts';
import type { EnabledTool } from '../conversations/runs/tool.ts';
import type { Warning } from '../ground/warning.ts';
import type { DataSourceType, RefreshPeriod } from '../knowledge/data-source.ts';
import type { AgentProfile, AgentVisibility } from './agent.ts';
import type { AgentOptions } from './options.ts';
import type { AgentToolType, JsonObject, SecretType, UserInputType } from './part.ts';

/** The version this service writes, and the only one it reads. */
export const bundleVersion = '1.0';

/** A portable agent. It holds no secret: tools refer to `requiredSecrets` by key. */
export interface AgentBundle {
  readonly version: string;
  readonly exportedAt: Date;
  readonly source: { readonly apiBaseUrl: string; readonly orgId: string };
  readonly agent: BundledAgent;
  readonly tools: readonly BundledTool[];
  readonly userInputs: readonly BundledUserInput[];
  readonly flows: readonly BundledFlow[];
  readonly dataSources: readonly BundledDataSource[];
  readonly skills: readonly BundledSkill[];
  readonly requiredSecrets: readonly RequiredSecret[];
  /** Null: it has none, or the caller may not read them. */
  readonly datasets: readonly BundledDataset[] | null;
  readonly gate: BundledGate | null;
  /** What the caller may not read and the bundle therefore lacks; null when it is whole. An import does not use it. */
  readonly warnings: readonly Warning[] | null;
}
export interface BundledAgent {
  readonly name: string;
  readonly introduction: string | null;
  readonly description: string;
  readonly instructions: string;
  readonly seed: string;
  readonly src: string;
  readonly modelId: string;
  readonly visibility: AgentVisibility;
  readonly listInOrgCatalog: boolean;
  readonly listInPublicCatalog: boolean;
  readonly listInTenantCatalog: boolean;
  readonly chatLogsVisible: boolean;
  readonly generateCitations: boolean;
  readonly intermediateStepsVisible: boolean;
  /** Absent in bundles of earlier versions. */
  readonly enabledTools?: readonly EnabledTool[];
  readonly options: AgentOptions;
  readonly profile: AgentProfile;
}
export interface BundledTool {
  readonly name: string;
  readonly type: AgentToolType;
  readonly data: JsonObject;
}
export interface BundledUserInput {
  readonly variableName: string;
  readonly type: UserInputType;
  readonly label: string;
  readonly configuration: JsonObject;
  readonly showOnChatCreate: boolean;
  readonly orderIndex: number;
}
export interface BundledFlow {
  readonly name: string;
  readonly enabled: boolean;
  readonly versions: readonly {
    readonly version: number;
    readonly active: boolean;
    readonly description: string;
    readonly data: JsonObject;
  }[];
}
export interface BundledDataSource {
  /** Its id in the exporting installation; elsewhere only a name. */
  readonly originalId: string;
  readonly name: string;
  readonly type: DataSourceType;
  readonly refreshPeriod: RefreshPeriod;
  readonly data: JsonObject;
  readonly knowledgeItems: readonly BundledKnowledgeItem[];
}
export interface BundledKnowledgeItem {
  readonly name: string;
  readonly type: string;
  readonly uniqueId: string;
  /** An address from which an import may fetch the content; '' when the content is not available. */
  readonly blobUrl: string;
  readonly filename: string;
  readonly mimeType: string;
}
export interface BundledSkill {
  readonly name: string;
  readonly description: string;
  readonly content: string;
  readonly enabled: boolean;
}
export interface BundledDataset {
  readonly name: string;
  readonly description: string;
  readonly callsTools: boolean;
  /** Those that somebody wrote, as a line of JSONL has them. */
  readonly cases: readonly JsonObject[];
}
export interface BundledGate {
  /** The place of its dataset in `datasets`, from 0. */
  readonly dataset: number;
  readonly mustTag: string | null;
  readonly rateDropMax: number | null;
  readonly costRatioMax: number | null;
  readonly tokensMax: number;
  /** Members that are null are left out. */
  readonly scorers: readonly (Pick<Scorer, 'kind'> & Partial<Scorer>)[];
}
export interface RequiredSecret {
  readonly key: string;
  readonly description: string;
  readonly secretType: SecretType;
}
