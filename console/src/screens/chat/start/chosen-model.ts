const storedAs = (chatId: string) => `parley.model.${chatId}`;

/** The model that the reader chose for a chat, as long as the tab is open; undefined: that of its agent. */
export const chosenModel = (chatId: string): string | undefined => sessionStorage.getItem(storedAs(chatId)) ?? undefined;

export function chooseModel(chatId: string, model: string | undefined): void {
  if (model === undefined) sessionStorage.removeItem(storedAs(chatId));
  else sessionStorage.setItem(storedAs(chatId), model);
}
