/**
 * Keeps what is dropped from taking the place of the page: a browser opens a file or an address that falls where nothing takes it. Texts still fall
 * into fields.
 */
export function guardDrops(): void {
  const guard = (event: DragEvent) => {
    if (event.defaultPrevented) return;
    const types = event.dataTransfer?.types ?? [];
    const isField = event.target instanceof Element && event.target.closest('input, textarea') !== null;
    if (isField && !types.includes('Files')) return;
    event.preventDefault();
    if (event.dataTransfer !== null) event.dataTransfer.dropEffect = 'none';
  };
  addEventListener('dragover', guard);
  addEventListener('drop', guard);
}
