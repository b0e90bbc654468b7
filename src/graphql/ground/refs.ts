import type { CreatedApiKey } from '../../domain/people/api-keys.ts';
import type { ModelInfo } from '../../engine/models/catalog.ts';
import type { AgentCategory, AgentView } from '../../entities/agents/agent.ts';
import type { AgentFlow, AgentSecret, AgentSkill, AgentTool, AgentUserInput, PartView } from '../../entities/agents/part.ts';
import type { Chat, ChatMessage, Conversation } from '../../entities/conversations/chats/chat.ts';
import type { Feedback } from '../../entities/conversations/chats/feedback.ts';
import type { ChatFile } from '../../entities/conversations/chats/file.ts';
import type { ChatImport } from '../../entities/conversations/chats/import.ts';
import type { ChatShare } from '../../entities/conversations/chats/share.ts';
import type { Dataset } from '../../entities/conversations/evaluation/dataset.ts';
import type { Experiment } from '../../entities/conversations/evaluation/experiment.ts';
import type { StoredFile } from '../../entities/conversations/files/file.ts';
import type { UploadState } from '../../entities/conversations/files/upload.ts';
import type { Memory } from '../../entities/conversations/memory.ts';
import type { Project } from '../../entities/conversations/project.ts';
import type { Prompt } from '../../entities/conversations/prompt.ts';
import type { RunView } from '../../entities/conversations/runs/run.ts';
import type { Schedule, ScheduleRun } from '../../entities/conversations/schedule.ts';
import type { Connection } from '../../entities/knowledge/connection.ts';
import type { DataSource, KnowledgeItem } from '../../entities/knowledge/data-source.ts';
import type { SourceRun } from '../../entities/knowledge/source-run.ts';
import type { StoreFileBatch, VectorStore, VectorStoreFile } from '../../entities/knowledge/vector-store.ts';
import type { AuditEntry } from '../../entities/operations/audit.ts';
import type { Budget } from '../../entities/operations/budget.ts';
import type { LegalHold } from '../../entities/operations/data-life/hold.ts';
import type { DataExport, Erasure } from '../../entities/operations/data-life/jobs.ts';
import type { SavedDocument } from '../../entities/operations/saved-document.ts';
import type { Webhook, WebhookDelivery } from '../../entities/operations/webhook.ts';
import type { Membership, Organization, Tenant, User } from '../../entities/people/account.ts';
import type { ApiKey } from '../../entities/people/api-key.ts';
import type { Group } from '../../entities/people/group.ts';
import type { Session } from '../../entities/people/session.ts';
import { builder } from './builder/builder.ts';

/**
 * The things of the graph, by the value that their fields read. Each is implemented in the file of its noun; here they only have their names, so that
 * types lead to each other without files that import each other.
 */
export const UserRef = builder.objectRef<User>('User');
export const OrganizationRef = builder.objectRef<Organization>('Organization');
export const TenantRef = builder.objectRef<Tenant>('Tenant');
export const MembershipRef = builder.objectRef<Membership>('Membership');
export const GroupRef = builder.objectRef<Group>('Group');
export const ApiKeyRef = builder.objectRef<ApiKey | CreatedApiKey>('ApiKey');
export const SessionRef = builder.objectRef<Session>('Session');
export const BudgetRef = builder.objectRef<Budget>('Budget');
export const SavedDocumentRef = builder.objectRef<SavedDocument>('SavedDocument');
export const WebhookRef = builder.objectRef<Webhook>('Webhook');
export const WebhookDeliveryRef = builder.objectRef<WebhookDelivery>('WebhookDelivery');
export const AuditEntryRef = builder.objectRef<AuditEntry>('AuditEntry');
export const DataExportRef = builder.objectRef<DataExport>('DataExport');
export const ErasureRef = builder.objectRef<Erasure>('Erasure');
export const LegalHoldRef = builder.objectRef<LegalHold>('LegalHold');

export const AgentRef = builder.objectRef<AgentView>('Agent');
export const AgentCategoryRef = builder.objectRef<AgentCategory>('AgentCategory');
export const AgentToolRef = builder.objectRef<PartView<AgentTool>>('AgentTool');
export const AgentSkillRef = builder.objectRef<PartView<AgentSkill>>('AgentSkill');
export const AgentFlowRef = builder.objectRef<PartView<AgentFlow>>('AgentFlow');
export const AgentUserInputRef = builder.objectRef<PartView<AgentUserInput>>('AgentUserInput');
export const AgentSecretRef = builder.objectRef<AgentSecret>('AgentSecret');
export const ModelRef = builder.objectRef<ModelInfo>('Model');

export const ChatRef = builder.objectRef<Chat>('Chat');
export const MessageRef = builder.objectRef<ChatMessage>('Message');
export const FeedbackRef = builder.objectRef<Feedback>('Feedback');
export const ChatShareRef = builder.objectRef<ChatShare>('ChatShare');
export const ChatFileRef = builder.objectRef<ChatFile>('ChatFile');
export const RunRef = builder.objectRef<RunView>('Run');
export const ConversationRef = builder.objectRef<Conversation>('Conversation');
export const ChatImportRef = builder.objectRef<ChatImport>('ChatImport');
export const ProjectRef = builder.objectRef<Project>('Project');
export const PromptRef = builder.objectRef<Prompt>('Prompt');
export const DatasetRef = builder.objectRef<Dataset>('Dataset');
export const ExperimentRef = builder.objectRef<Experiment>('Experiment');
export const MemoryRef = builder.objectRef<Memory>('Memory');
export const ScheduleRef = builder.objectRef<Schedule>('Schedule');
export const ScheduleRunRef = builder.objectRef<ScheduleRun>('ScheduleRun');

export const DataSourceRef = builder.objectRef<DataSource>('DataSource');
export const KnowledgeItemRef = builder.objectRef<KnowledgeItem>('KnowledgeItem');
export const SourceRunRef = builder.objectRef<SourceRun>('SourceRun');
/** An account at another service. People connect it, but Relay reserves names that end in `Connection` for pages. */
export const IntegrationRef = builder.objectRef<Connection>('Integration');
export const StoredFileRef = builder.objectRef<StoredFile>('StoredFile');
export const FileUploadRef = builder.objectRef<UploadState>('FileUpload');
export const VectorStoreRef = builder.objectRef<VectorStore>('VectorStore');
export const VectorStoreFileRef = builder.objectRef<VectorStoreFile>('VectorStoreFile');
export const VectorStoreFileBatchRef = builder.objectRef<StoreFileBatch>('VectorStoreFileBatch');
