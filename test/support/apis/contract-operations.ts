/** Every operation that the contract names, in its words and its order. */
export const contractOperations: readonly string[] = [
  // agents
  'Update AI fields',
  'Create AI',
  'Get AI',
  'Create agent from bundle',
  'Export agent',
  'Generate AI profile from existing AI data',
  'List AIs',
  // chats
  'List chats of an AI',
  'Create chat for an AI',
  'Get chat',
  'Send a message to a chat',
  'Duplicate chat',
  'Reset chat (clears its current state or content)',
  'Submit tool outputs',
  "List current user's chats",
  // chat files
  'Upload a file for use in messages of a chat (maximum size 5 MB)',
  'List files of a chat',
  'Create a file record or upload directly',
  // data sources
  'List data sources of an AI',
  'Attach an existing data source to an AI',
  'Add API data source',
  'Add file-upload data source',
  'Create signed upload token for blob storage; the data source is created after the upload',
  'Add web URL source',
  'Add drive-A sources',
  'Add drive-B source',
  'Add wiki source',
  'Add tracker source',
  'Add repository-host source',
  'Bulk delete data sources of an AI',
  'List data sources the user can access',
  'Update a data source',
  'Refresh a data source',
  'Indexing statistics',
  'List knowledge items',
  'Update a knowledge item',
  // keys, groups, usage
  'Create API key for the caller or a given user and organization',
  'Create group',
  'Update group',
  'List groups of the current user',
  'Organization usage by AI',
  // completions and responses
  'Chat completions (threadless)',
  'Chat completions (threadless), deprecated twin',
  'Responses-style API (v2)',
];

/** Operations of the contract without a row, each with the reason. */
export const missingOperations: Readonly<Record<string, string>> = {};
