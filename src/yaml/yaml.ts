/** The house's YAML: one reader with both resolvers and one emitter. This file is the interface. */

/** Where a value stands; line and column count from 1. */
export interface Position {
  readonly line: number
  readonly column: number
}

/** Whose rules decide what a plain scalar is: `1.1` as kubectl and Helm read, `1.2` as Kustomize does. */
export type Resolver = '1.1' | '1.2'

/** Caps checked while reading; each has a safe default. */
export interface ReadLimits {
  readonly maxBytes?: number
  readonly maxDepth?: number
  /** Counts every node of the stream, and again each time an alias repeats it. */
  readonly maxNodes?: number
  readonly maxAliases?: number
}

/** How to read. */
export interface ReadOptions extends ValueOptions {
  readonly resolver?: Resolver
  readonly limits?: ReadLimits
  /** Shown in errors: `file: line 3, column 5: …`. */
  readonly file?: string
}

/** What becomes of keys, integers and mappings. */
export interface ValueOptions {
  /**
   * What a repeated key is: an error (default), or the last wins, or `strict`: an error also when a merge (`<<`)
   * brings a key that is already there, as `UnmarshalStrict` of sigs.k8s.io/yaml has it.
   */
  readonly duplicateKeys?: 'error' | 'last' | 'strict'
  /** `number` (default) rounds as JSON does; `bigint` keeps integers exact where a number cannot hold them. */
  readonly integers?: 'number' | 'bigint'
  /** Makes the value of every integer, for callers that tell an int64 from a float64; wins over `integers`. */
  readonly integer?: (value: bigint) => unknown
  /** What a mapping becomes: a plain object (default), or a Map, which also keeps the order of keys like `10`. */
  readonly mappings?: 'object' | 'map'
}

/** A document of a stream: its plain JSON value, and where each value stands. */
export interface YamlDocument {
  /** Plain JSON; objects have no prototype keys. */
  readonly value: unknown
  readonly start: Position
  /** The position of the value at a path of keys and indexes, or of its nearest ancestor. */
  positionOf(path: readonly (string | number)[]): Position
}

/** Text that is not YAML, or over a limit; or a value that YAML cannot hold. */
export class YamlError extends Error {
  override readonly name = 'YamlError'
  readonly position: Position
  readonly file: string | undefined
  /** The same in the words of Go's library, as users of helm and kubectl know it: `yaml: line 3: …`. */
  readonly goMessage: string

  constructor(problem: string, position: Position, file?: string, goMessage?: string) {
    super(`${file ? `${file}: ` : ''}line ${position.line}, column ${position.column}: ${problem}`)
    this.position = position
    this.file = file
    this.goMessage = goMessage ?? `yaml: ${problem}`
  }
}
