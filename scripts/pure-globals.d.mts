// The globals a pure room may use besides the language's own: they only compute. AbortSignal.timeout is not here, because
// it is a clock. tsconfig.pure.json alone reads this file.
// oxlint-disable-next-line unicorn/require-module-specifiers -- makes this a module, as `declare global` needs
export {}

declare global {
  interface AbortSignal {
    readonly aborted: boolean
    readonly reason: unknown
    throwIfAborted(): void
    addEventListener(type: 'abort', listener: () => void, options?: { once?: boolean }): void
    removeEventListener(type: 'abort', listener: () => void): void
  }
  const AbortSignal: {
    abort(reason?: unknown): AbortSignal
    any(signals: readonly AbortSignal[]): AbortSignal
  }
  class AbortController {
    readonly signal: AbortSignal
    abort(reason?: unknown): void
  }
  class TextEncoder {
    encode(text: string): Uint8Array<ArrayBuffer>
  }
  class TextDecoder {
    constructor(label?: string, options?: { fatal?: boolean; ignoreBOM?: boolean })
    decode(bytes?: Uint8Array, options?: { stream?: boolean }): string
  }
  class URL {
    constructor(text: string, base?: string | URL)
    static canParse(text: string, base?: string): boolean
    static parse(text: string, base?: string): URL | null
    readonly href: string
    readonly protocol: string
    readonly username: string
    readonly password: string
    readonly host: string
    readonly hostname: string
    readonly port: string
    readonly pathname: string
    readonly search: string
    readonly hash: string
    readonly searchParams: URLSearchParams
  }
  class URLSearchParams implements Iterable<[string, string]> {
    constructor(init?: string | Record<string, string> | Iterable<[string, string]>)
    get(name: string): string | null
    getAll(name: string): string[]
    has(name: string): boolean
    set(name: string, value: string): void
    append(name: string, value: string): void
    [Symbol.iterator](): IterableIterator<[string, string]>
  }
  function structuredClone<T>(value: T): T
}
