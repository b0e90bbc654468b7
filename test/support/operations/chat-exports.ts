/** Exports of chats as the products write them, members that nobody reads apart. Each is the same chat: a question with two answers, and a second question. */

const begunSeconds = 1_756_000_000;
const ids = ['1', '2', '3', '4'] as const;
/** What is said in the chat, in the order of `ids`; the third is the second answer to the first. */
export const said = ['How do I roll back?', 'Run `helm rollback`.', 'Restore the chart.', 'And if that fails?'] as const;
export const models = { chatgpt: 'gpt-5-thinking', libreChat: 'gpt-4o', openWebUi: 'llama3.1:latest' } as const;

const at = (index: number) => begunSeconds + index * 60;
const dateOf = (index: number) => new Date(at(index) * 1_000).toISOString();
const parents = [null, '1', '1', '3'] as const;
const roles = ['user', 'assistant', 'assistant', 'user'] as const;

/** A conversation of `conversations.json` of ChatGPT: also instructions, an image, a call of a tool and what the model thought. */
export function chatGptConversation(id: string, title = 'Deploying the cluster') {
  const node = (key: string, parent: string | null, message: object | null) => ({ id: key, message, parent, children: [] });
  const message = (role: string, content: object, index: number, more: object = {}) => ({
    author: { role, name: null, metadata: {} },
    create_time: at(index) + 0.25,
    content,
    status: 'finished_successfully',
    recipient: 'all',
    metadata: role === 'assistant' ? { model_slug: models.chatgpt } : {},
    ...more,
  });
  const text = (index: number) => ({ content_type: 'text', parts: [said[index]] });
  const image = { content_type: 'image_asset_pointer', asset_pointer: 'file-service://file-1', width: 1, height: 1 };
  return {
    id,
    conversation_id: id,
    title,
    create_time: begunSeconds + 0.5,
    update_time: at(3) + 0.75,
    default_model_slug: models.chatgpt,
    current_node: 'm4',
    mapping: {
      root: node('root', null, null),
      context: node(
        'context',
        'root',
        message('user', { content_type: 'user_editable_context', user_profile: 'An SRE.' }, 0, {
          metadata: { is_user_system_message: true },
        }),
      ),
      m1: node('m1', 'context', message('user', { content_type: 'multimodal_text', parts: [image, said[0]] }, 0)),
      thought: node('thought', 'm1', message('assistant', { content_type: 'thoughts', thoughts: [{ summary: 'Hm' }] }, 1)),
      call: node(
        'call',
        'thought',
        message('assistant', { content_type: 'code', language: 'unknown', text: 'search("x")' }, 1, { recipient: 'web' }),
      ),
      m2: node('m2', 'call', message('assistant', text(1), 1)),
      m3: node('m3', 'm1', message('assistant', text(2), 2)),
      m4: node('m4', 'm3', message('user', text(3), 3)),
    },
  };
}

/** A conversation of Claude, which is linear here; `text` has notes in place of what is no text. */
export function claudeConversation(uuid: string, name = 'Deploying the cluster') {
  const message = (index: number, sender: string, content: readonly object[]) => ({
    uuid: `${uuid}-${index}`,
    sender,
    text: 'This block is not supported on your current device yet.',
    content,
    created_at: dateOf(index),
    attachments: [],
    files: [],
  });
  const thinking = { type: 'thinking', thinking: 'Hm' };
  const text = (index: number) => ({ type: 'text', text: said[index] });
  return {
    uuid,
    name,
    created_at: dateOf(0),
    updated_at: dateOf(3),
    account: { uuid: 'account' },
    chat_messages: [message(0, 'human', [text(0)]), message(1, 'assistant', [thinking, text(1)])],
  };
}

/** A conversation of LibreChat, `recursive` or as a list. */
export function libreChatConversation(
  conversationId: string,
  { isRecursive, title = 'Deploying the cluster' }: { readonly isRecursive: boolean; readonly title?: string },
) {
  const message = (index: number) => ({
    messageId: `m${ids[index]}`,
    parentMessageId: parents[index] === null ? '00000000-0000-0000-0000-000000000000' : `m${parents[index]}`,
    conversationId,
    createdAt: dateOf(index),
    updatedAt: dateOf(index),
    isCreatedByUser: roles[index] === 'user',
    sender: roles[index] === 'user' ? 'User' : 'GPT-4o',
    text: index === 2 ? '' : said[index],
    // Answers of agents have their text here.
    ...(index === 2
      ? {
          content: [
            { type: 'think', think: 'Hm' },
            { type: 'text', text: said[2] },
          ],
        }
      : {}),
    model: roles[index] === 'user' ? null : models.libreChat,
    error: false,
    unfinished: false,
  });
  const nested = (index: number): object => ({
    ...message(index),
    children: ids.flatMap((_, child) => (parents[child] === ids[index] ? [nested(child)] : [])),
  });
  const head = {
    conversationId,
    endpoint: 'openAI',
    title,
    exportAt: '16:33:32 GMT+0200',
    branches: true,
    recursive: isRecursive,
    options: { model: models.libreChat },
  };
  return isRecursive ? { ...head, messages: [nested(0)] } : { ...head, messages: ids.map((_, index) => message(index)) };
}

/** A chat of Open WebUI, whose answers have what the model thought as HTML. */
export function openWebUiChat(id: string, title = 'Deploying the cluster') {
  const thought = '<details type="reasoning" done="true" duration="3"><summary>Thought</summary>&gt; Hm</details>';
  const messages = ids.map((key, index) => ({
    id: `m${key}`,
    parentId: parents[index] === null ? null : `m${parents[index]}`,
    childrenIds: [],
    role: roles[index],
    content: index === 1 ? `${thought}\n${said[1]}` : said[index],
    timestamp: at(index),
    ...(roles[index] === 'assistant' ? { model: models.openWebUi, done: true } : { models: [models.openWebUi] }),
  }));
  const history = { messages: Object.fromEntries(messages.map((message) => [message.id, message])), currentId: 'm4' };
  // The time of the chat is in milliseconds, those of its messages are in seconds.
  const chat = { id: '', title, models: [models.openWebUi], history, messages: [], tags: [], timestamp: begunSeconds * 1_000 };
  return {
    id,
    user_id: 'u',
    title,
    chat,
    created_at: begunSeconds,
    updated_at: at(3),
    share_id: null,
    archived: false,
    pinned: false,
  };
}
