// Tested by src/dialects/flux/recorded.contract.test.ts.
/** Values as text, for formats that have only text. */
import { SopsBranch, SopsComment, SopsTime } from '../sops-tree.ts'
import type { SopsValue } from '../sops-tree.ts'

/** The text of a value, or undefined for a mapping or a list. */
export function leafText(value: SopsValue): string | undefined {
  if (value instanceof SopsBranch || Array.isArray(value)) return undefined
  if (value instanceof SopsComment || value instanceof SopsTime) return value.text
  if (value instanceof Uint8Array) return new TextDecoder().decode(value)
  return value === null ? '' : String(value)
}
