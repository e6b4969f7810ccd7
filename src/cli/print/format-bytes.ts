/** A number of bytes with unit: `54.2 KB`. */
export function bytesText(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`
  if (bytes < 1024 * 1024) return `${(bytes / 1024).toFixed(1)} KB`
  const mb = bytes / 1024 / 1024
  return mb < 10_000 ? `${mb.toFixed(1)} MB` : `${(mb / 1024).toFixed(1)} GB`
}
