/**
 * In place of elkjs, which Mermaid brings: its licence (EPL-2.0) asks more of who passes the console on than that of Parley does. Diagrams are laid out
 * by dagre; one that asks for ELK in a way of its own is shown as its text, with this reason.
 */
export default class {
  layout(): Promise<never> {
    return Promise.reject(new Error('The layout ELK is not available.'));
  }
}
