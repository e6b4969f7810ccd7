/** `flotilla template`: prints what `helm template` prints, and can compare with a helm binary. */
import { mkdirSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { readBody } from '../../../core/http.ts'
import { fromGoBytes, goBytes } from '../../../render/gotemplate/go-string.ts'
import { HelmError } from '../../../render/helm/helm-error.ts'
import type { CliEnvironment } from '../../config.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import type { ExitCode } from '../../errors/cli-error.ts'
import type { Terminal } from '../../print/terminal.ts'
import { renderLimited } from '../../template/render-limited.ts'
import type { PrintedDocument, TemplateAnswer, TemplateFlags } from '../../template/template-request.ts'

export interface TemplateInput {
  readonly terminal: Terminal
  readonly stdin: AsyncIterable<Uint8Array>
  readonly environment?: Pick<CliEnvironment, 'compileCache' | 'path'>
  readonly threadsFolder?: () => URL
  /** Receives bytes that are not UTF-8. */
  readonly writeBytes?: (bytes: Uint8Array) => void
  /** Renders a request. Defaults to a renderer with limits on time and memory. */
  readonly render?: typeof renderLimited
}

/** Renders and prints a chart. The exit code is the one of helm. */
export async function template(
  words: readonly string[],
  input: TemplateInput,
  flags: TemplateFlags,
): Promise<ExitCode> {
  const stdin = readsStdin(flags) ? await readBody(input.stdin, Infinity) : Buffer.alloc(0)
  if (flags.engine === 'official') return await official(words, { input, stdin }, flags)
  refuseUnusable(words, flags)
  const { terminal } = input
  try {
    if (flags.postRenderer) {
      const { checkPostRenderer } = await import('../../template/post-render.ts')
      checkPostRenderer(flags.postRenderer, input.environment?.path ?? [])
    }
    const answer = await (input.render ?? renderLimited)(
      {
        words,
        flags,
        stdin,
        timeLimitMs: limitOf(flags.timeLimit, '--time-limit') * 1000,
        compileCache: input.environment?.compileCache,
      },
      {
        memoryMiB: limitOf(flags.memoryLimit, '--memory-limit'),
        warn: (text) => terminal.say(text),
        debug: (text) => terminal.data(text),
        ...(input.threadsFolder && { threadsFolder: input.threadsFolder }),
      },
    )
    if (flags.frozen !== undefined && answer.frozen) keepFrozen(flags.frozen, answer.frozen)
    if (flags.outputDir && !flags.explain) {
      print(input, writeDocuments(answer, flags.outputDir, flags))
      // The documents are in files, so --show-only finds nothing.
      const [wanted] = flags.showOnly ?? []
      if (wanted !== undefined) throw new HelmError(`could not find template ${wanted} in chart`)
    }
    const text = await outputOf(answer, flags)
    print(input, text)
    return flags.shadow ? await shadow(words, { text, stdin, terminal }, flags) : EXIT.ok
  } catch (error) {
    if (!(error instanceof HelmError)) throw error
    const advice = error.rendered && !flags.debug ? '\n\nUse --debug flag to render out invalid YAML' : ''
    terminal.say(`Error: ${error.message}${advice}`)
    return EXIT.failed
  }
}

/** Whether a values file or a file of --set-file is `-`. */
function readsStdin({ values = [], setFile = [] }: TemplateFlags): boolean {
  return values.some((name) => name.trim() === '-') || setFile.some((text) => /=\s*-\s*(?:,|$)/.test(text))
}

function limitOf(text: string | undefined, flag: string): number {
  const limit = Number(text)
  if (Number.isFinite(limit) && limit > 0) return limit
  throw new CliError(EXIT.failed, { what: `invalid ${flag} ${JSON.stringify(text)}: must be a number above 0` })
}

/** Values of the flags after `=`. `unset` stands for a flag without value. */
const HELM_3_CHOICES = {
  dryRuns: ['client', 'none', 'unset', 'true', 'false', ''],
  waits: ['1', 't', 'T', 'TRUE', 'true', 'True', '0', 'f', 'F', 'FALSE', 'false', 'False'],
}
const HELM_4_CHOICES = {
  dryRuns: ['client', 'true', 'unset'],
  waits: ['watcher', 'hookOnly', 'legacy', 'true', 'false'],
}

/** Refuses flags that need a cluster, the network or a plugin. */
function refuseUnusable(words: readonly string[], flags: TemplateFlags): void {
  const refuse = (what: string, todo: string): never => {
    throw new CliError(EXIT.failed, { what, todo })
  }
  if (flags.validate || flags.dryRun === 'server') {
    const flag = flags.validate ? '--validate' : '--dry-run=server'
    refuse(`${flag} requires a cluster, which this command never contacts`, 'omit the flag, or use --engine official')
  }
  if (flags.enableDns) {
    refuse(
      '--enable-dns requires the network, which this command never uses',
      'omit the flag, or use --engine official',
    )
  }
  if (flags.verify) {
    refuse(
      '--verify requires a provenance file, which this command does not read',
      'verify the chart with "helm verify" first',
    )
  }
  const { dryRuns, waits } = flags.helm === '3' ? HELM_3_CHOICES : HELM_4_CHOICES
  const isTrue = flags.helm !== '3' && /^(?:1|t|T|True|TRUE)$/.test(flags.dryRun ?? '')
  if (flags.dryRun !== undefined && !isTrue && !dryRuns.includes(flags.dryRun)) {
    refuse(`invalid --dry-run ${JSON.stringify(flags.dryRun)}`, `use one of ${dryRuns.join(', ')}`)
  }
  if (flags.wait !== undefined && flags.wait !== 'unset' && !waits.includes(flags.wait)) {
    refuse(`invalid --wait ${JSON.stringify(flags.wait)}`, `use one of ${waits.join(', ')}`)
  }
  if (flags.postRenderer && flags.helm !== '3') {
    refuse(
      '--post-renderer of Helm 4 requires a plugin, which this command does not run',
      'pipe the output into the program, use --helm 3 for a post-renderer that is a program, or use --engine official',
    )
  }
  if (flags.postRenderer && (flags.outputDir || flags.explain)) {
    refuse('--post-renderer cannot be combined with --output-dir or --explain', 'omit one of the flags')
  }
  const path = words.at(-1) ?? ''
  // Helm 3 uses a chart on disk even with --repo.
  const isOfRepo = Boolean(flags.repo) && !(flags.helm === '3' && isThere(path))
  const isFetched = /^(?:oci|https?|file):\/\//.test(path) || isOfRepo
  if (isFetched) {
    refuse(
      `chart ${flags.repo ? `${flags.repo} ` : ''}${path} is not on this disk; this command does not fetch charts`,
      'fetch the chart with "helm pull" first, or use --engine official; a hub fetches charts through a Source',
    )
  }
}

function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined
}

function print({ terminal, writeBytes }: TemplateInput, text: string): void {
  // Bytes that are not UTF-8 must be printed unchanged.
  if (text.isWellFormed() || !writeBytes) terminal.data(text)
  else writeBytes(goBytes(text))
}

function keepFrozen(file: string, frozen: Readonly<Record<string, unknown>>): void {
  writeFileSync(file, `${JSON.stringify(frozen, undefined, 2)}\n`, { mode: 0o600 })
}

async function outputOf(answer: TemplateAnswer, flags: TemplateFlags): Promise<string> {
  if (flags.outputDir && !flags.explain) return '\n'
  if (!flags.postRenderer) return answer.text
  const { postRender } = await import('../../template/post-render.ts')
  const { documentText, selectOutput: printed } = await import('../../../render/helm/template-output.ts')
  const { HELM_3 } = await import('../../../render/helm/profile.ts')
  const manifests = [...answer.crds, ...answer.release].map(documentText).join('')
  const changed = await postRender(flags.postRenderer, flags.postRendererArgs ?? [], manifests)
  return printed(changed, answer.hooks, { profile: HELM_3, showOnly: flags.showOnly ?? [] })
}

/**
 * Writes each document into the file of its template below a folder. A chart cannot write outside of it. As in helm,
 * CRDs ignore --release-name, and a hook is appended to an existing file.
 */
function writeDocuments({ crds, release, hooks, name }: TemplateAnswer, top: string, flags: TemplateFlags): string {
  const dir = flags.releaseName ? join(top, name) : top
  const written = new Set<string>()
  let log = ''
  const write = (folder: string, { path, content }: PrintedDocument, isBehind: (file: string) => boolean): void => {
    if (path.split('/').includes('..')) {
      throw new CliError(EXIT.failed, { where: path, what: 'the template is outside of --output-dir' })
    }
    const file = join(folder, path)
    mkdirSync(dirname(file), { recursive: true })
    const text = goBytes(`---\n# Source: ${path}\n${content}\n`)
    writeFileSync(file, text, { flag: isBehind(file) ? 'a' : 'w' })
    written.add(path)
    log += `wrote ${folder}/${path}\n`
  }
  for (const document of crds) write(top, document, () => written.has(document.path))
  for (const document of release) write(dir, document, () => written.has(document.path))
  for (const document of hooks) write(dir, document, isThere)
  return log
}

async function official(
  words: readonly string[],
  { input, stdin }: { readonly input: TemplateInput; readonly stdin: Uint8Array },
  flags: TemplateFlags,
): Promise<ExitCode> {
  const { helmArguments, runHelm } = await import('../../template/helm-binary.ts')
  const run = await runHelm(helmArguments(words, flags), flags.helmBinary ?? 'helm', stdin)
  print(input, fromGoBytes(run.stdout))
  if (run.stderr !== '') input.terminal.say(run.stderr.trimEnd())
  return run.failed ? EXIT.failed : EXIT.ok
}

/** Compares with a helm binary. The result goes to stderr. */
async function shadow(
  words: readonly string[],
  ours: { readonly text: string; readonly stdin: Uint8Array; readonly terminal: Terminal },
  flags: TemplateFlags,
): Promise<ExitCode> {
  const { text, stdin, terminal } = ours
  const { helmArguments, runHelm } = await import('../../template/helm-binary.ts')
  const helm = await runHelm(helmArguments(words, flags), flags.helmBinary ?? 'helm', stdin)
  const theirs = fromGoBytes(helm.stdout)
  if (!helm.failed && theirs === text) {
    terminal.step('ok', 'helm prints the same output')
    return EXIT.ok
  }
  const [mine, lines] = [text.split('\n'), theirs.split('\n')]
  const at = Array.from({ length: Math.max(mine.length, lines.length) }).findIndex((_, row) => mine[row] !== lines[row])
  const problem = helm.failed
    ? `helm fails: ${helm.stderr.trim()}`
    : `the output of helm differs from line ${at + 1}\n  helm: ${lines[at] ?? '(end)'}\n  flotilla: ${mine[at] ?? '(end)'}`
  terminal.step('fail', problem)
  return EXIT.failed
}
