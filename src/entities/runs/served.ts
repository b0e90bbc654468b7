/** The types of tools of the service that this version serves. A request with another one is refused: nothing is accepted without effect. */
export const servedToolTypes: readonly string[] = ['python', 'code_interpreter', 'deep_research'];
