/** A pass over JSON text for what `JSON.parse` does not tell: how deep it is and which keys come twice. */

/** A key that came twice, and where in the text it did. */
export interface KeyPlace {
  /** For example `spec.rings[0].name`. */
  readonly path: string
  readonly offset: number
}

/** What a scan found; syntax errors are left to `JSON.parse`. */
export interface JsonScan {
  readonly duplicates: readonly KeyPlace[]
  /** Whether a key has a special meaning for JavaScript objects, for example `__proto__`. */
  readonly hasUnsafeKey: boolean
  /** Why the text must not be parsed. */
  readonly problem?: string
}

/** Deeper than any object or schema, and far from the end of the stack of a recursive walk. */
export const MAX_DEPTH = 500
const MAX_DUPLICATES = 20
/** A key of this name would change objects that are built from its own key by key; no Kubernetes field has it. */
export const UNSAFE_KEY = '__proto__'

interface Frame {
  readonly keys: Set<string> | undefined
  /** The present key or index, for paths. */
  at: string | number
  expectsKey: boolean
}

/** Scans JSON text; `onKey` hears of every key, which costs a path each. */
export function scanJson(text: string, onKey?: (place: KeyPlace) => void): JsonScan {
  const frames: Frame[] = []
  const duplicates: KeyPlace[] = []
  let hasUnsafeKey = false
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index)
    const top = frames.at(-1)
    if (code === 0x22) {
      const end = endOfString(text, index)
      if (end < 0) break
      if (top?.keys && top.expectsKey) {
        top.at = unquote(text.slice(index, end + 1))
        top.expectsKey = false
        if (top.keys.has(top.at) && duplicates.length < MAX_DUPLICATES) {
          duplicates.push({ path: pathOf(frames), offset: index })
        }
        top.keys.add(top.at)
        if (top.at === UNSAFE_KEY) hasUnsafeKey = true
        onKey?.({ path: pathOf(frames), offset: index })
      }
      index = end
    } else if (code === 0x7b || code === 0x5b) {
      if (frames.length >= MAX_DEPTH)
        return { duplicates, hasUnsafeKey, problem: `it is nested deeper than ${MAX_DEPTH} levels` }
      const isMap = code === 0x7b
      frames.push({ keys: isMap ? new Set() : undefined, at: isMap ? '' : 0, expectsKey: isMap })
    } else if (code === 0x7d || code === 0x5d) {
      frames.pop()
    } else if (code === 0x2c && top) {
      if (top.keys) top.expectsKey = true
      else top.at = Number(top.at) + 1
    }
  }
  return { duplicates, hasUnsafeKey }
}

function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let slashes = 0
    while (text.charCodeAt(end - 1 - slashes) === 0x5c) slashes += 1
    if (slashes % 2 === 0) return end
  }
  return -1
}

function unquote(quoted: string): string {
  if (!quoted.includes('\\')) return quoted.slice(1, -1)
  try {
    return String(JSON.parse(quoted))
  } catch {
    return quoted
  }
}

function pathOf(frames: readonly Frame[]): string {
  return frames.map(({ at }, depth) => (typeof at === 'number' ? `[${at}]` : depth === 0 ? at : `.${at}`)).join('')
}
