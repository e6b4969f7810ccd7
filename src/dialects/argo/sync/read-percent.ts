/** Reads `25%`; undefined for another text. */
export function readPercent(text: string): number | undefined {
  return /^(100|\d{1,2})%$/.test(text) ? Number.parseInt(text, 10) : undefined
}
