/** `flotilla template`: what `helm template` prints, without helm; or with it, to compare. */
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { generateTraditionalKey } from '../../core/bytes.ts'
import { systemClock } from '../../core/system-clock.ts'
import { systemIds } from '../../core/system-ids.ts'
import { fromGoBytes, goBytes } from '../../render/gotemplate/go-string.ts'
import { checkReleaseName, checkRequirements } from '../../render/helm/check-chart.ts'
import type { FrozenRecord } from '../../render/helm/frozen.ts'
import { HelmError } from '../../render/helm/helm-error.ts'
import { profileOf } from '../../render/helm/profile.ts'
import type { HelmProfile } from '../../render/helm/profile.ts'
import { Provenance } from '../../render/helm/provenance.ts'
import { renderChart } from '../../render/helm/render-chart.ts'
import type { RenderedChart } from '../../render/helm/render-chart.ts'
import { outputDocuments, templateOutput } from '../../render/helm/template-output.ts'
import { userValues } from '../../render/helm/user-values.ts'
import { loadChartFrom } from '../chart-files.ts'
import { CliError, EXIT } from '../exit.ts'
import type { ExitCode } from '../exit.ts'
import type { Terminal } from '../terminal.ts'

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
  readonly hooks?: boolean
  readonly skipTests?: boolean
  readonly kubeVersion?: string
  readonly apiVersions?: readonly string[]
  readonly isUpgrade?: boolean
  readonly skipSchemaValidation?: boolean
  readonly outputDir?: string
  readonly releaseName?: boolean
  readonly validate?: boolean
  readonly helm?: string
  readonly frozen?: string
  readonly explain?: boolean
  readonly engine?: string
  readonly shadow?: boolean
  readonly helmBinary?: string
}

/** What the command works with. */
export interface TemplateInput {
  readonly terminal: Terminal
  readonly stdin: AsyncIterable<Uint8Array>
}

/** Renders and prints; the exit code is helm's. */
export async function template(
  words: readonly string[],
  input: TemplateInput,
  flags: TemplateFlags,
): Promise<ExitCode> {
  if (flags.validate) {
    throw new CliError(EXIT.usage, {
      what: '--validate asks a cluster, which this command never does',
      todo: 'leave it out, or use --engine official with --dry-run=server',
    })
  }
  if (flags.engine === 'official') return await official(words, input.terminal, flags)
  const { terminal } = input
  try {
    const text = await render(words, input, flags)
    print(terminal, text)
    return flags.shadow ? await shadow(words, text, terminal, flags) : EXIT.ok
  } catch (error) {
    if (!(error instanceof HelmError)) throw error
    const advice = error.rendered ? '\n\nUse --debug flag to render out invalid YAML' : ''
    terminal.say(`Error: ${error.message}${advice}`)
    return EXIT.failed
  }
}

function print(terminal: Terminal, text: string): void {
  // Bytes that are no UTF-8 must come out as they are.
  if (text.isWellFormed()) terminal.data(text)
  else process.stdout.write(goBytes(text))
}

async function render(words: readonly string[], input: TemplateInput, flags: TemplateFlags): Promise<string> {
  const profile = profileOf(flags.helm === '3' ? 'helm3' : 'helm4')
  if (words.length > 2) {
    throw new HelmError(`expected at most two arguments, unexpected arguments: ${words.slice(2).join(', ')}`)
  }
  const [name, path] = words.length > 1 ? [words[0]!, words[1]!] : ['release-name', words[0]!]
  const values = await valuesOf(flags, input, profile)
  const chart = loadChartFrom(path, profile)
  checkRequirements(chart, profile)
  checkReleaseName(name, profile)
  const frozen = readFrozen(flags.frozen)
  const provenance = flags.explain ? new Provenance() : undefined
  const rendered = renderChart({
    chart,
    values,
    profile,
    release: { name, namespace: flags.namespace ?? 'default', isUpgrade: flags.isUpgrade ?? false },
    cluster: {
      ...(flags.kubeVersion !== undefined && { kubeVersion: flags.kubeVersion }),
      apiVersions: (flags.apiVersions ?? []).flatMap((list) => list.split(',')),
    },
    entropy: { randomBytes: systemIds.bytes, now: () => systemClock.now(), generateKey: generateTraditionalKey },
    frozen,
    skipSchemaValidation: flags.skipSchemaValidation ?? false,
    warn: (message) => input.terminal.say(message),
    ...(provenance && { trace: provenance.trace }),
  })
  writeFrozen(flags.frozen, frozen, rendered)
  const what = {
    includeCrds: flags.includeCrds ?? false,
    noHooks: flags.hooks === false,
    skipTests: flags.skipTests ?? false,
    showOnly: flags.showOnly ?? [],
  }
  if (provenance) return explained(rendered, provenance, what)
  if (flags.outputDir !== undefined) {
    const dir = flags.releaseName ? join(flags.outputDir, name) : flags.outputDir
    return writeDocuments(rendered, dir, what)
  }
  return templateOutput(rendered, what)
}

async function valuesOf(flags: TemplateFlags, input: TemplateInput, profile: HelmProfile) {
  const files: { name: string; data: Uint8Array }[] = []
  for (const name of flags.values ?? []) files.push({ name, data: await readValuesFile(name, input.stdin) })
  return userValues(
    {
      files,
      json: flags.setJson ?? [],
      set: flags.set ?? [],
      setString: flags.setString ?? [],
      setFile: flags.setFile ?? [],
      setLiteral: flags.setLiteral ?? [],
      readFile: (path) => fromGoBytes(readFile(path)),
    },
    profile,
  )
}

async function readValuesFile(name: string, stdin: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  if (name.trim() !== '-') return readFile(name)
  const parts: Uint8Array[] = []
  for await (const part of stdin) parts.push(part)
  return Buffer.concat(parts)
}

function readFile(path: string): Uint8Array {
  try {
    return readFileSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      throw new HelmError(`open ${path}: no such file or directory`)
    }
    throw error
  }
}

function readFrozen(file: string | undefined): FrozenRecord {
  if (file === undefined || !existsSync(file)) return {}
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as FrozenRecord
  } catch (error) {
    throw new CliError(
      EXIT.failed,
      { what: 'the frozen values cannot be read', where: file, why: (error as Error).message },
      { cause: error },
    )
  }
}

/** Keeps what was drawn now beside what was frozen before. */
function writeFrozen(file: string | undefined, before: FrozenRecord, { frozen }: RenderedChart): void {
  if (file === undefined || Object.keys(frozen).every((key) => Object.hasOwn(before, key))) return
  writeFileSync(file, `${JSON.stringify({ ...before, ...frozen }, undefined, 2)}\n`, { mode: 0o600 })
}

type Wanted = Parameters<typeof outputDocuments>[1]

/** Each line with the template and line that wrote it. */
function explained(rendered: RenderedChart, provenance: Provenance, wanted: Wanted): string {
  const { release, hooks } = outputDocuments(rendered, wanted)
  return [...release, ...hooks]
    .map((document) => {
      const lines = provenance.explain(document).map(({ origin, text }) => `${origin}\t${text}`)
      return `---\n# Source: ${document.path}\n${lines.join('\n')}\n`
    })
    .join('')
}

function writeDocuments(rendered: RenderedChart, dir: string, wanted: Wanted): string {
  const { release, hooks } = outputDocuments(rendered, wanted)
  const written = new Set<string>()
  let log = ''
  for (const { path, content } of [...release, ...hooks]) {
    const file = join(dir, path)
    mkdirSync(dirname(file), { recursive: true })
    const text = goBytes(`---\n# Source: ${path}\n${content}\n`)
    writeFileSync(file, text, { flag: written.has(file) ? 'a' : 'w' })
    written.add(file)
    log += `wrote ${dir}/${path}\n`
  }
  return `${log}\n`
}

interface HelmRun {
  readonly stdout: Buffer
  readonly stderr: string
  readonly failed: boolean
}

/** The same command line for a helm binary. */
async function runHelm(words: readonly string[], flags: TemplateFlags): Promise<HelmRun> {
  const list = (flag: string, items: readonly string[] | undefined) => (items ?? []).flatMap((item) => [flag, item])
  const args = [
    'template',
    ...words,
    ...list('--values', flags.values),
    ...list('--set', flags.set),
    ...list('--set-string', flags.setString),
    ...list('--set-json', flags.setJson),
    ...list('--set-file', flags.setFile),
    ...list('--set-literal', flags.setLiteral),
    ...list('--show-only', flags.showOnly),
    ...list('--api-versions', flags.apiVersions),
    ...(flags.namespace === undefined ? [] : ['--namespace', flags.namespace]),
    ...(flags.kubeVersion === undefined ? [] : ['--kube-version', flags.kubeVersion]),
    ...(flags.outputDir === undefined ? [] : ['--output-dir', flags.outputDir]),
    ...(flags.includeCrds ? ['--include-crds'] : []),
    ...(flags.hooks === false ? ['--no-hooks'] : []),
    ...(flags.skipTests ? ['--skip-tests'] : []),
    ...(flags.isUpgrade ? ['--is-upgrade'] : []),
    ...(flags.skipSchemaValidation ? ['--skip-schema-validation'] : []),
    ...(flags.releaseName ? ['--release-name'] : []),
  ]
  const binary = flags.helmBinary ?? 'helm'
  return await new Promise((resolve, reject) => {
    execFile(binary, args, { encoding: 'buffer', maxBuffer: 1 << 28 }, (error, stdout, stderr) => {
      if ((error as NodeJS.ErrnoException | null)?.code === 'ENOENT') {
        reject(
          new CliError(EXIT.failed, {
            what: `there is no ${binary} to run`,
            todo: 'install helm, or name it with --helm-binary FILE',
          }),
        )
      } else resolve({ stdout, stderr: stderr.toString('utf8'), failed: error !== null })
    })
  })
}

async function official(words: readonly string[], terminal: Terminal, flags: TemplateFlags): Promise<ExitCode> {
  const { stdout, stderr, failed } = await runHelm(words, flags)
  print(terminal, fromGoBytes(stdout))
  if (stderr !== '') terminal.say(stderr.trimEnd())
  return failed ? EXIT.failed : EXIT.ok
}

async function shadow(
  words: readonly string[],
  text: string,
  terminal: Terminal,
  flags: TemplateFlags,
): Promise<ExitCode> {
  const helm = await runHelm(words, flags)
  if (!helm.failed && fromGoBytes(helm.stdout) === text) {
    terminal.step('ok', 'helm prints the same bytes')
    return EXIT.ok
  }
  const lines = fromGoBytes(helm.stdout).split('\n')
  const at = text.split('\n').findIndex((line, index) => line !== lines[index])
  terminal.step('fail', helm.failed ? `helm fails: ${helm.stderr.trim()}` : `helm differs from line ${at + 1} on`)
  return EXIT.failed
}
