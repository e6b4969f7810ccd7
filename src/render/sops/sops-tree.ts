/**
 * The tree of a SOPS file: all formats are read into it, decrypted in it and written from it. The order of keys and the
 * comments count, because SOPS authenticates them.
 */
import type { Timestamp } from '../../yaml/timestamp.ts'

/** A comment, without its mark. */
export class SopsComment {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** A timestamp of YAML. */
export class SopsTime {
  readonly text: string
  readonly time: Timestamp

  constructor(text: string, time: Timestamp) {
    this.text = text
    this.time = time
  }
}

/** An entry of a mapping, or a comment between entries. */
export type SopsItem =
  | { readonly key: string; value: SopsValue }
  | { readonly comment: SopsComment; readonly key?: undefined; readonly value?: undefined }

/** A mapping, in the order of its text. */
export class SopsBranch {
  items: SopsItem[]

  constructor(items: SopsItem[] = []) {
    this.items = items
  }

  /** The value of a key. */
  get(key: string): SopsValue | undefined {
    return this.items.find((item) => item.key === key)?.value
  }

  /** Takes a key out. */
  take(key: string): SopsValue | undefined {
    const found = this.get(key)
    if (found !== undefined) this.items = this.items.filter((item) => item.key !== key)
    return found
  }
}

/** A value; integers are bigints, floats are numbers. */
export type SopsValue = SopsLeaf | SopsBranch | SopsValue[]

/** A value without values in it; comments stand in lists. */
export type SopsLeaf = string | bigint | number | boolean | null | Uint8Array | SopsTime | SopsComment

/** A file: the branches of its documents, and its metadata. */
export interface SopsFile {
  readonly branches: readonly SopsBranch[]
  readonly metadata: SopsBranch
}

/** The formats of SOPS. */
export type SopsFormat = 'yaml' | 'json' | 'dotenv' | 'ini' | 'binary'

/** Names of formats in messages. */
export const FORMAT_NAMES: Readonly<Record<SopsFormat, string>> = {
  yaml: 'YAML',
  json: 'JSON',
  dotenv: 'dotenv',
  ini: 'INI',
  binary: 'binary',
}
