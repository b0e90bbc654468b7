const chosen = new Map<string, string>();

/** The model that the reader chose for a chat, as long as the page is open; undefined: that of its agent. */
export const chosenModel = (chatId: string): string | undefined => chosen.get(chatId);

export function chooseModel(chatId: string, model: string | undefined): void {
  if (model === undefined) chosen.delete(chatId);
  else chosen.set(chatId, model);
}
