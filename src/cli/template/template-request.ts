// Tested by src/cli/commands/preview/template.contract.test.ts.
/** A render request as plain data, which can be sent to a thread. */
import type { ExitCode, ErrorReport } from '../errors/cli-error.ts'

/** Flags of `template`. */
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

/** A render request. */
export interface TemplateRequest {
  /** `[NAME] CHART`. */
  readonly words: readonly string[]
  readonly flags: TemplateFlags
  /** Content of stdin, for `-f -`. */
  readonly stdin: Uint8Array
  /** Time limit of the thread in milliseconds. */
  readonly timeLimitMs: number
  /** Where Node keeps compiled code between runs. */
  readonly compileCache?: string | undefined
}

/** A document with the template it is from. */
export interface PrintedDocument {
  readonly path: string
  readonly content: string
}

/** The result of a render. */
export interface TemplateAnswer {
  readonly name: string
  /** The output, before post-rendering and before --output-dir. */
  readonly text: string
  readonly crds: readonly PrintedDocument[]
  readonly release: readonly PrintedDocument[]
  readonly hooks: readonly PrintedDocument[]
  /** Random values to keep. Set if there are new values. */
  readonly frozen: Readonly<Record<string, unknown>> | undefined
}

/** Messages of the thread. */
export type FromTemplateThread =
  | { readonly type: 'warn'; readonly text: string }
  | { readonly type: 'answer'; readonly answer: TemplateAnswer }
  /** An error of helm, or an error report. */
  | { readonly type: 'helm error'; readonly message: string; readonly rendered: boolean; readonly text: string }
  | { readonly type: 'refusal'; readonly exitCode: ExitCode; readonly report: ErrorReport }
