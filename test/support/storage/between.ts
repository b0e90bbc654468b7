/**
 * Has something happen once a part of the service has answered a request for the first time: what another request does between the reading and the writing
 * of this one. The part itself answers, before and after.
 *
 * @param act  must await nothing that waits for the request which is held.
 */
export function afterNext<Part extends object>(part: Part, method: keyof Part & string, act: () => Promise<unknown>): void {
  const own = Object.getOwnPropertyDescriptor(part, method);
  const original = part[method];
  if (typeof original !== 'function') throw new Error(`${method} is no method`);
  const held = async (...args: readonly unknown[]): Promise<unknown> => {
    if (own === undefined) Reflect.deleteProperty(part, method);
    else Object.defineProperty(part, method, own);
    const answer: unknown = await Reflect.apply(original, part, args);
    await act();
    return answer;
  };
  Object.defineProperty(part, method, { value: held, configurable: true });
}
