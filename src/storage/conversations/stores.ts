import type { Database } from '../ground/database.ts';
import type { Signals } from '../ground/signals/signals.ts';
import { ChatBinStore } from './chats/bin.ts';
import { BranchStore } from './chats/branches.ts';
import { ChatChangeStore } from './chats/changes.ts';
import { ChatStore } from './chats/chats.ts';
import { CodeStateStore } from './chats/code-states.ts';
import { ChatContextStore } from './chats/contexts.ts';
import { ConversationStore } from './chats/conversations.ts';
import { FeedbackStore } from './chats/feedback.ts';
import { ChatFileStore } from './chats/files.ts';
import { ChatPlaceStore } from './chats/places.ts';
import { QueueStore } from './chats/queue.ts';
import { ChatReadStore } from './chats/reads.ts';
import { ThreadStore } from './chats/threads.ts';
import { FileStore } from './files/files.ts';
import { FileUploadStore } from './files/uploads.ts';
import { MemoryStore } from './memories/memories.ts';
import { ApprovalStore } from './runs/approvals.ts';
import { ComparisonStore } from './runs/comparisons.ts';
import { RunEventStore } from './runs/events.ts';
import { RunHistoryStore } from './runs/history.ts';
import { ResponseStore } from './runs/responses.ts';
import { RunStore } from './runs/runs.ts';
import { ScheduleStore } from './schedules.ts';

/** The stores of chats, runs, files and memories. A new one is added here. */
export class ConversationStores {
  readonly chats: ChatStore;
  readonly chatChanges: ChatChangeStore;
  readonly chatBin: ChatBinStore;
  readonly chatPlaces: ChatPlaceStore;
  readonly chatContexts: ChatContextStore;
  readonly branches: BranchStore;
  readonly chatReads: ChatReadStore;
  readonly feedback: FeedbackStore;
  readonly queue: QueueStore;
  readonly comparisons: ComparisonStore;
  readonly conversations: ConversationStore;
  readonly chatFiles: ChatFileStore;
  readonly codeStates: CodeStateStore;
  readonly files: FileStore;
  readonly fileUploads: FileUploadStore;
  readonly memories: MemoryStore;
  readonly runs: RunStore;
  readonly runHistory: RunHistoryStore;
  readonly runEvents: RunEventStore;
  readonly responses: ResponseStore;
  readonly threads: ThreadStore;
  readonly approvals: ApprovalStore;
  readonly schedules: ScheduleStore;

  constructor(db: Database, signals: Signals) {
    this.chats = new ChatStore(db, signals);
    this.chatChanges = new ChatChangeStore(db, signals);
    this.chatBin = new ChatBinStore(db, signals);
    this.chatPlaces = new ChatPlaceStore(db, signals);
    this.chatContexts = new ChatContextStore(db, signals);
    this.branches = new BranchStore(db, signals);
    this.chatReads = new ChatReadStore(db, signals);
    this.feedback = new FeedbackStore(db, signals);
    this.queue = new QueueStore(db, signals);
    this.comparisons = new ComparisonStore(db, signals);
    this.conversations = new ConversationStore(db, signals);
    this.chatFiles = new ChatFileStore(db);
    this.codeStates = new CodeStateStore(db);
    this.files = new FileStore(db);
    this.fileUploads = new FileUploadStore(db);
    this.memories = new MemoryStore(db, signals);
    this.runs = new RunStore(db);
    this.runHistory = new RunHistoryStore(db);
    this.runEvents = new RunEventStore(db);
    this.responses = new ResponseStore(db);
    this.threads = new ThreadStore(db, signals);
    this.approvals = new ApprovalStore(db);
    this.schedules = new ScheduleStore(db, signals);
  }
}
