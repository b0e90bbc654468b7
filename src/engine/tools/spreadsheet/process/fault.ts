/** An error that the model may read. */
export class WorkbookFault extends Error {
  override readonly name = 'WorkbookFault';
}
