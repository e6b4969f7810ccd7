/** `flotilla validate`: checks files before they are committed. */
import { statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import { compact } from '../../../core/compact.ts'
import { clientOver } from '../../../client/create-client.ts'
import type { Connection } from '../../api/connect.ts'
import type { Bundle } from '../../../kinds/native/bundle.ts'
import type { Source } from '../../../kinds/native/source.ts'
import { afterCompiling } from '../../diff/fleet-repositories.ts'
import { addressOf } from '../../repository/choose-sources.ts'
import { openRepository } from '../../repository/git-repository.ts'
import { inputTexts } from '../../repository/input-texts.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import type { ExitCode } from '../../errors/cli-error.ts'
import { keyOfObject, NO_FACTS, readFleetFacts } from '../../repository/fleet-facts.ts'
import type { FleetFacts } from '../../repository/fleet-facts.ts'
import { finding } from '../../../plan/lint/finding.ts'
import type { NamedText, PlacedFinding } from '../../lint/read-definitions.ts'
import { lintFiles } from '../../lint/lint-files.ts'
import { manifestPaths } from '../../lint/manifest-paths.ts'
import { readPolicies, UNREAD_RULES } from '../../lint/rule-findings.ts'
import { printLint, summary } from '../../lint/print-findings.ts'
import type { LintFormat } from '../../lint/print-findings.ts'
import { readRepository, findRepositoryRoot } from '../../repository/repository-files.ts'
import type { Terminal } from '../../print/terminal.ts'

/** Flags of `validate`. */
export interface ValidateFlags {
  readonly filename?: readonly string[]
  readonly root?: string
  readonly hub?: boolean
  readonly kubeconfig?: string
  readonly context?: string
  readonly kubeVersion?: string
  readonly strict?: boolean
  readonly output?: LintFormat
}

export interface ValidateInput {
  readonly terminal: Pick<Terminal, 'data' | 'say' | 'step'>
  readonly stdin: AsyncIterable<Uint8Array>
  /** Connects to the hub. Called with --hub only. */
  readonly connect: () => Promise<Pick<Connection, 'rest'>>
  readonly flags: ValidateFlags
}

/** Checks files and prints the findings. Exits with 1 if there is an error, or with `--strict` a warning. */
export async function validate(
  directories: readonly string[],
  { terminal, stdin, connect, flags }: ValidateInput,
): Promise<ExitCode> {
  const given = [...directories, ...(flags.filename ?? [])]
  const paths = given.length === 0 ? ['.'] : given
  const root = flags.root ?? findRepositoryRoot(firstDirectory(paths))
  const files = readRepository(root)
  const definitions: NamedText[] = []
  for (const path of paths) definitions.push(...(await definitionsOf(path, { root, files, stdin })))
  const hasHub = flags.hub === true || flags.kubeconfig !== undefined || flags.context !== undefined
  const client = hasHub ? clientOver((await connect()).rest) : undefined
  const present = client ? await readFleetFacts(client) : NO_FACTS
  const policies = client && (await readPolicies(client))
  if (client && !policies) terminal.step('warn', UNREAD_RULES)
  const followed = client ? await followedSources(root, present) : []
  const after = client && (await afterCompiling(client, present, { sources: followed, files }))
  const facts = after?.facts ?? present
  const ofFleet = await compileFleet(paths, root, files)
  const { DIALECT_BUILDERS } = await import('../../../dialects/dialect-builders.ts')
  const report = lintFiles({
    definitions,
    files,
    facts,
    hasHub,
    kubeVersion: flags.kubeVersion,
    policies,
    builders: DIALECT_BUILDERS,
    // A hub that follows the repository says which directories it compiles, and for which clusters.
    ...compact({ compiled: after?.hasRepositories ? undefined : ofFleet.bundles }),
    ...(client && { followed: new Set(followed.map(keyOfObject)), hubTexts: await inputTexts(client, facts) }),
  })
  const unknown = [...(after?.unknown ?? [])].map(([bundle, why]) =>
    finding('not-rendered', `Bundle ${bundle} was not checked: ${why}`),
  )
  const shown = {
    ...report,
    findings: [...report.findings, ...ofFleet.findings, ...unknown].map((one: PlacedFinding) =>
      one.file !== undefined && files.has(one.file) ? { ...one, file: shownPath(root, one.file) } : one,
    ),
  }
  terminal.data(printLint(shown, flags.output ?? 'text'))
  if (flags.output !== undefined && flags.output !== 'text') terminal.say(summary(shown))
  if (report.checked.objects + report.checked.contents === 0 && shown.findings.length === 0) {
    terminal.step('warn', 'no Flotilla objects and no manifests found')
  }
  const fails = flags.strict ? ['error', 'warning'] : ['error']
  return shown.findings.some(({ severity }) => fails.includes(severity)) ? EXIT.failed : EXIT.ok
}

/** Bundles and findings of the Fleet dialect. It is loaded only if there is a fleet.yaml. */
async function compileFleet(
  paths: readonly string[],
  root: string,
  files: ReadonlyMap<string, Uint8Array>,
): Promise<{ readonly bundles: readonly Bundle[]; readonly findings: readonly PlacedFinding[] }> {
  const directories = paths
    .filter((path) => path !== '-' && statSync(path, { throwIfNoEntry: false })?.isDirectory())
    .map((path) => relative(resolve(root), resolve(path)))
    .filter((path) => path !== '..' && !path.startsWith('../'))
  const isBelow = (file: string): boolean => directories.some((path) => path === '' || file.startsWith(`${path}/`))
  if (![...files.keys()].some((file) => /(^|\/)fleet\.ya?ml$/.test(file) && isBelow(file))) {
    return { bundles: [], findings: [] }
  }
  const { compileDirectories } = await import('../../../dialects/fleet/compile/read-git-repo.ts')
  const { bundles, findings } = compileDirectories(files, directories)
  return {
    bundles,
    findings: findings.map(({ level, message, file, line }) =>
      compact({ ...finding('fleet-yaml', message, { severity: level }), file, line }),
    ),
  }
}

/** The Sources of the hub with a remote of the clone. */
async function followedSources(root: string, { sources }: FleetFacts): Promise<readonly Source[]> {
  const here = new Set((await openRepository(root).remotes()).map(addressOf))
  return sources.filter(({ spec }) => spec.git !== undefined && here.has(addressOf(spec.git.url)))
}

function firstDirectory(paths: readonly string[]): string {
  const found = paths.find((path) => path !== '-' && statSync(path, { throwIfNoEntry: false })?.isDirectory())
  return found ?? '.'
}

interface Where {
  readonly root: string
  readonly files: ReadonlyMap<string, Uint8Array>
  readonly stdin: AsyncIterable<Uint8Array>
}

async function definitionsOf(path: string, { root, files, stdin }: Where): Promise<NamedText[]> {
  if (path === '-') {
    const chunks: Uint8Array[] = []
    for await (const chunk of stdin) chunks.push(chunk)
    return [{ name: 'stdin', bytes: Buffer.concat(chunks) }]
  }
  const found = statSync(path, { throwIfNoEntry: false })
  if (!found) throw new CliError(EXIT.usage, { where: path, what: 'no such file or directory' })
  const inside = relative(resolve(root), resolve(path))
  const isInside = inside !== '..' && !inside.startsWith('../')
  if (!found.isDirectory()) {
    return [{ name: isInside ? inside : path, bytes: await readFile(path) }]
  }
  if (!isInside) {
    const own = readRepository(path)
    return manifestPaths(own, '').map((name) => ({ name: join(path, name), bytes: own.get(name)! }))
  }
  return manifestPaths(files, inside).map((name) => ({ name, bytes: files.get(name)! }))
}

function shownPath(root: string, file: string): string {
  return relative('', join(resolve(root), file)) || file
}
