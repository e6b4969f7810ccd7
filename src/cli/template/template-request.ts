/** A render that was asked for on the command line, as plain data: it is done in a thread of its own. */
import type { ExitCode, ErrorReport } from '../errors/cli-error.ts'

/** Flags of the command, as commander gives them. */
export interface TemplateFlags {
  readonly values?: readonly string[]
  readonly set?: readonly string[]
  readonly setString?: readonly string[]
  readonly setJson?: readonly string[]
  readonly setFile?: readonly string[]
  readonly setLiteral?: readonly string[]
  readonly namespace?: string
  readonly showOnly?: readonly string[]
  readonly includeCrds?: boolean
  /** False for --no-hooks. */
  readonly hooks?: boolean
  readonly skipTests?: boolean
  readonly kubeVersion?: string
  readonly apiVersions?: readonly string[]
  readonly isUpgrade?: boolean
  readonly skipSchemaValidation?: boolean
  readonly outputDir?: string
  readonly releaseName?: boolean
  readonly generateName?: boolean
  readonly nameTemplate?: string
  /** Pairs, several in a text. */
  readonly labels?: readonly string[]
  readonly dryRun?: string
  readonly wait?: string
  readonly dependencyUpdate?: boolean
  readonly postRenderer?: string
  readonly postRendererArgs?: readonly string[]
  readonly debug?: boolean
  readonly validate?: boolean
  readonly enableDns?: boolean
  readonly verify?: boolean
  readonly repo?: string
  readonly chartVersion?: string
  readonly helm?: string
  readonly frozen?: string
  readonly explain?: boolean
  readonly engine?: string
  readonly shadow?: boolean
  readonly helmBinary?: string
  readonly timeLimit?: string
  readonly memoryLimit?: string
}

/** What is to be rendered. */
export interface TemplateRequest {
  /** `[NAME] CHART`. */
  readonly words: readonly string[]
  readonly flags: TemplateFlags
  /** What `-f -` reads. */
  readonly stdin: Uint8Array
  /** When the thread gives up by itself, in milliseconds after its start. */
  readonly timeLimitMs: number
  /** Where Node keeps compiled code between runs. */
  readonly compileCache?: string | undefined
}

/** One document with the template it is from. */
export interface PrintedDocument {
  readonly path: string
  readonly content: string
}

/** What came of it. */
export interface TemplateAnswer {
  readonly name: string
  /** What goes to stdout, unless it is still changed or written into files. */
  readonly text: string
  readonly crds: readonly PrintedDocument[]
  readonly release: readonly PrintedDocument[]
  readonly hooks: readonly PrintedDocument[]
  /** Random values to keep, when there are new ones. */
  readonly frozen: Readonly<Record<string, unknown>> | undefined
}

/** What the thread says, beside how far it is. */
export type FromTemplateThread =
  | { readonly type: 'warn'; readonly text: string }
  | { readonly type: 'answer'; readonly answer: TemplateAnswer }
  /** Helm's own error, or a failure in words for the terminal. */
  | { readonly type: 'helm error'; readonly message: string; readonly rendered: boolean; readonly text: string }
  | { readonly type: 'refusal'; readonly exitCode: ExitCode; readonly trouble: ErrorReport }
