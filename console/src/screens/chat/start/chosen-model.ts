const modelIds = new Map<string, string>();

/** The model that the reader chose for a chat, as long as the page is open; undefined: that of its agent. */
export const chosenModel = (chatId: string): string | undefined => modelIds.get(chatId);

export function chooseModel(chatId: string, model: string | undefined): void {
  if (model === undefined) modelIds.delete(chatId);
  else modelIds.set(chatId, model);
}
