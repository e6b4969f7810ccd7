/** Compares by UTF-16 code unit: the order is equal on every machine and in every locale. For `sort`. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
