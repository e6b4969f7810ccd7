/** `flotilla diff`: what a branch or the working directory would change in the fleet. */
import { relative, resolve } from 'node:path'
import { settleAll } from '../../../core/async/settle-all.ts'
import { clientOver } from '../../../client/create-client.ts'
import { generateTraditionalKey } from '../../../core/bytes.ts'
import { systemClock } from '../../../core/time/system-clock.ts'
import type { KubeObject } from '../../../kinds/meta.ts'
import type { Source } from '../../../kinds/native/source.ts'
import type { Entropy } from '../../../render/helm/frozen-random.ts'
import { plural } from '../../../core/text/name-some.ts'
import type { Connection } from '../../api/connect.ts'
import { chooseSources } from '../../repository/choose-sources.ts'
import { openRepository } from '../../repository/git-repository.ts'
import type { Files, GitRepository } from '../../repository/git-repository.ts'
import { inputTexts, textsInFiles } from '../../repository/input-texts.ts'
import { isDifference, preview } from '../../diff/preview.ts'
import type { PreviewSide } from '../../diff/preview.ts'
import { printDiff } from '../../diff/print-diff.ts'
import type { DiffFormat } from '../../diff/print-diff.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import type { ExitCode } from '../../errors/cli-error.ts'
import { keyOfObject, readFleetFacts, withObjects } from '../../repository/fleet-facts.ts'
import type { FleetFacts } from '../../repository/fleet-facts.ts'
import { checkOwn, readDefinitions } from '../../lint/read-definitions.ts'
import type { Definition } from '../../lint/read-definitions.ts'
import { manifestPaths } from '../../lint/manifest-paths.ts'
import { ASSIGNMENTS, listAll, REPORTS } from '../../api/flotilla-resources.ts'
import { findRepositoryRoot } from '../../repository/repository-files.ts'
import { didYouMean } from '../../errors/did-you-mean.ts'
import type { Terminal } from '../../print/terminal.ts'

/** Flags of `diff`. */
export interface DiffFlags {
  readonly filename?: readonly string[]
  readonly root?: string
  readonly source?: string
  readonly branch?: string
  readonly into?: string
  readonly against?: string
  readonly bundle?: string
  readonly summary?: boolean
  readonly output?: DiffFormat
}

export interface DiffInput {
  readonly terminal: Pick<Terminal, 'data' | 'say' | 'step'>
  readonly connection: Pick<Connection, 'rest'>
  readonly flags: DiffFlags
}

const LIVE = 'live'

/** Compares and prints. Exits with 1 if there are differences. */
export async function diff({ terminal, connection, flags }: DiffInput): Promise<ExitCode> {
  const paths = flags.filename ?? ['.']
  const root = flags.root ?? findRepositoryRoot(paths[0] ?? '.')
  const repository = openRepository(root)
  const against = flags.against ?? LIVE
  const client = clientOver(connection.rest)
  const [remotes, facts, reports, assignments] = await settleAll([
    remotesOf(repository),
    readFleetFacts(client),
    listAll(client, REPORTS),
    listAll(client, ASSIGNMENTS),
  ])
  const sources = chooseSources({ sources: facts.sources, remotes, named: flags.source, into: flags.into })
  const files = flags.branch === undefined ? await repository.workFiles() : await filesAt(repository, flags.branch)
  const base =
    against === LIVE ? await liveFiles(repository, sources) : new Map(await sameFor(sources, repository, against))
  const defined = definitionsIn(files, { paths, root })
  const known = against === LIVE ? [] : definitionsIn(await filesAt(repository, against), { paths, root }).own
  const texts = await inputTexts(client, withObjects(facts, objectsOf(defined.own)))
  const before: PreviewSide = {
    facts: withObjects(facts, objectsOf(known)),
    filesOf: (source) => base.get(source),
    textsIn: texts,
  }
  const targets = new Set(sources.map(keyOfObject))
  const after: PreviewSide = {
    facts: withObjects(facts, objectsOf(defined.own)),
    filesOf: (source) => (targets.has(source) ? files : undefined),
    textsIn: (namespace) => (kind, name) =>
      textsInFiles(defined.others, { kind, namespace, name }) ?? texts(namespace)(kind, name),
  }
  if (defined.wrong > 0) {
    terminal.step('warn', `${plural(defined.wrong, 'error')} in the files; list them with "flotilla validate"`)
  }
  refuseUnknown(flags.bundle, [...before.facts.bundles, ...after.facts.bundles])
  const bundles = preview({ before, after, reports, bundle: flags.bundle, entropy: SAME_DRAWS })
  const moving = assignments.filter(({ spec }) => isBehind(spec.entries, facts)).length
  const fileOf = new Map(defined.own.map((one) => [`${one.object.kind} ${keyOfObject(one.object)}`, one.file]))
  terminal.data(
    printDiff(bundles, {
      format: flags.output ?? 'text',
      summary: flags.summary === true,
      from: against === LIVE ? liveName(sources) : against,
      to: flags.branch ?? 'working directory',
      now: systemClock.now(),
      notes:
        moving === 0
          ? []
          : [
              `${plural(moving, 'cluster has', 'clusters have')} not received the newest Release yet; the comparison uses the newest Release`,
            ],
      renderCommand: (bundle, cluster) => renderCommand({ bundle, cluster, root, fileOf }),
    }),
  )
  return bundles.some(({ groups, unknown }) => unknown !== undefined || groups.some(isDifference))
    ? EXIT.failed
    : EXIT.ok
}

/** Random values of charts are equal on both sides, because the hub keeps them. */
const keys = new Map<string, string>()
const SAME_DRAWS: Entropy = {
  randomBytes: (length) => new Uint8Array(length),
  now: () => 0,
  generateKey: (type) => {
    const known = keys.get(type) ?? generateTraditionalKey(type)
    keys.set(type, known)
    return known
  },
}

/** An unknown name would otherwise result in "no differences". */
function refuseUnknown(bundle: string | undefined, bundles: readonly KubeObject[]): void {
  const names = bundles.flatMap((one) => [keyOfObject(one), one.metadata.name])
  if (bundle === undefined || names.includes(bundle)) return
  throw new CliError(EXIT.notFound, {
    what: `bundle ${JSON.stringify(bundle)} not found on the hub or in the files`,
    todo: didYouMean(bundle, names) ?? 'list Bundles with "flotilla get bundles -A"',
  })
}

async function remotesOf(repository: GitRepository): Promise<readonly string[]> {
  if ((await repository.commitOf('HEAD')) !== undefined) return await repository.remotes()
  throw new CliError(EXIT.usage, {
    where: repository.root,
    what: 'not a git repository with a commit',
    why: 'the content that the hub delivers is read from its commit in the clone',
    todo: 'run the command in a clone, or give a clone with --root DIR',
  })
}

async function filesAt(repository: GitRepository, revision: string): Promise<Files> {
  const commit = await repository.commitOf(revision)
  if (commit !== undefined) return await repository.filesAt(commit)
  throw new CliError(EXIT.notFound, {
    where: repository.root,
    what: `revision ${JSON.stringify(revision)} not found in this clone`,
    todo: `fetch it with "git fetch origin ${revision}"; in a workflow, check out with fetch-depth: 0`,
  })
}

/** The files of each Source at the commit that the hub uses. */
async function liveFiles(repository: GitRepository, sources: readonly Source[]): Promise<Map<string, Files>> {
  const byCommit = new Map<string, Files>()
  const found = new Map<string, Files>()
  for (const source of sources) {
    const commit = source.status?.artifact?.commit
    if (commit === undefined) {
      found.set(keyOfObject(source), new Map())
      continue
    }
    const files = byCommit.get(commit) ?? (await filesAt(repository, commit))
    byCommit.set(commit, files)
    found.set(keyOfObject(source), files)
  }
  return found
}

async function sameFor(
  sources: readonly Source[],
  repository: GitRepository,
  revision: string,
): Promise<[string, Files][]> {
  const files = await filesAt(repository, revision)
  return sources.map((source) => [keyOfObject(source), files])
}

function liveName(sources: readonly Source[]): string {
  const revisions = sources.map(({ status }) => {
    const [, name, commit] = /^(?:(.*)@)?sha\d+:([0-9a-f]+)$/.exec(status?.artifact?.revision ?? '') ?? []
    return commit === undefined ? 'nothing' : `${name === undefined ? '' : `${name}@`}${commit.slice(0, 7)}`
  })
  return [...new Set(revisions)].join(', ') || 'the hub'
}

function definitionsIn(files: Files, { paths, root }: { readonly paths: readonly string[]; readonly root: string }) {
  const names = paths.flatMap((path) => {
    const inside = relative(resolve(root), resolve(path))
    return manifestPaths(files, inside)
  })
  const { own, others } = readDefinitions([...new Set(names)].map((name) => ({ name, bytes: files.get(name)! })))
  const { objects, findings } = checkOwn(own)
  return { own: objects, others, wrong: findings.filter(({ severity }) => severity === 'error').length }
}

function objectsOf(definitions: readonly Definition[]): KubeObject[] {
  return definitions.map(({ object }) => object)
}

function isBehind(
  entries: readonly { readonly bundle: string; readonly generation: number }[],
  facts: FleetFacts,
): boolean {
  return entries.some(({ bundle, generation }) => {
    const known = facts.bundles.find((one) => keyOfObject(one) === bundle)?.status?.revision
    return known !== undefined && generation < known.generation
  })
}

interface Failing {
  readonly bundle: string
  readonly cluster: string
  readonly root: string
  readonly fileOf: ReadonlyMap<string, string>
}

function renderCommand({ bundle, cluster, root, fileOf }: Failing): string {
  const [namespace, name] = bundle.split('/')
  const file = fileOf.get(`Bundle ${bundle}`)
  const top = relative('', resolve(root)) || '.'
  const from =
    file === undefined
      ? `flotilla get bundle ${name} -n ${namespace} -o yaml | flotilla render -f -`
      : `flotilla render -f ${relative('', resolve(root, file))} --bundle ${name}`
  return `${from} --cluster ${cluster}${top === '.' ? '' : ` --root ${top}`}`
}
