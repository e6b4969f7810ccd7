/** `flotilla diff`: what a branch or the working directory would change in the fleet. */
import { relative, resolve } from 'node:path'
import { settleAll } from '../../../core/async/settle-all.ts'
import { clientOver } from '../../../client/create-client.ts'
import { systemClock } from '../../../core/time/system-clock.ts'
import type { KubeObject } from '../../../kinds/meta.ts'
import type { Source } from '../../../kinds/native/source.ts'
import { plural } from '../../../core/text/name-some.ts'
import type { Connection } from '../../api/connect.ts'
import { chooseSources } from '../../repository/choose-sources.ts'
import { openRepository } from '../../repository/git-repository.ts'
import { filesAt } from '../../repository/git-repository.ts'
import type { Files, GitRepository } from '../../repository/git-repository.ts'
import { inputTexts, textsInFiles } from '../../repository/input-texts.ts'
import { isBehind } from '../../diff/delivered.ts'
import { afterCompiling } from '../../diff/fleet-repositories.ts'
import { liveSide, sideAt } from '../../diff/live-side.ts'
import { isDifference, preview, previewParts } from '../../diff/preview.ts'
import type { PreviewSide } from '../../diff/preview.ts'
import { printDiff } from '../../diff/print-diff.ts'
import type { DiffFormat } from '../../diff/print-diff.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import type { ExitCode } from '../../errors/cli-error.ts'
import { keyOfObject, readFleetFacts, withObjects } from '../../repository/fleet-facts.ts'
import { checkOwn, readDefinitions } from '../../lint/read-definitions.ts'
import type { Definition } from '../../lint/read-definitions.ts'
import { readPolicies, rulesWith, UNREAD_RULES } from '../../lint/rule-findings.ts'
import { manifestPaths } from '../../lint/manifest-paths.ts'
import { ASSIGNMENTS, listAll, RELEASES, REPORTS } from '../../api/flotilla-resources.ts'
import { readIfAllowed } from '../../api/read-if-allowed.ts'
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
  const [remotes, facts, reports, assignments, releases] = await settleAll([
    remotesOf(repository),
    readFleetFacts(client),
    listAll(client, REPORTS),
    listAll(client, ASSIGNMENTS),
    // A role of version 0.1 for previews may not list Releases.
    readIfAllowed('releases', listAll(client, RELEASES)),
  ])
  const delivery = {
    releases: releases.refused === undefined ? releases.items : undefined,
    assignments,
    clusters: facts.clusters,
  }
  const sources = chooseSources({ sources: facts.sources, remotes, named: flags.source, into: flags.into })
  const files = flags.branch === undefined ? await repository.workFiles() : await filesAt(repository, flags.branch)
  const defined = definitionsIn(files, { paths, root })
  const known = against === LIVE ? [] : definitionsIn(await filesAt(repository, against), { paths, root }).own
  const texts = await inputTexts(client, withObjects(facts, objectsOf(defined.own)))
  const targets = new Set(sources.map(keyOfObject))
  const side = { facts: withObjects(facts, objectsOf(known)), textsIn: texts }
  const live = against === LIVE
  const before = live
    ? await liveSide({
        side,
        repository,
        sources,
        client,
        delivery,
      })
    : { ...side, ...(await sideAt(repository, against, targets)), notes: [] }
  const compiled = await afterCompiling(client, withObjects(facts, objectsOf(defined.own)), { sources, files })
  const after: PreviewSide = {
    facts: compiled.facts,
    removed: compiled.removed,
    unknown: compiled.unknown,
    filesOf: (source) => (targets.has(source) ? files : undefined),
    textsIn: (namespace) => (kind, name) =>
      textsInFiles(defined.others, { kind, namespace, name }) ?? texts(namespace)(kind, name),
  }
  if (defined.wrong > 0) {
    terminal.step('warn', `${plural(defined.wrong, 'error')} in the files; list them with "flotilla validate"`)
  }
  refuseUnknown(flags.bundle, [...before.facts.bundles, ...after.facts.bundles])
  const policies = await readPolicies(client)
  if (!policies) terminal.step('warn', UNREAD_RULES)
  const rules = rulesWith(
    policies,
    defined.others.map(({ object }) => object),
  )
  const bundles = preview({ before, after, reports, bundle: flags.bundle, parts: await previewParts(), rules })
  const moving = assignments.filter((assignment) => isBehind(assignment, facts.bundles, delivery)).length
  const fileOf = new Map(defined.own.map((one) => [`${one.object.kind} ${keyOfObject(one.object)}`, one.file]))
  terminal.data(
    printDiff(bundles, {
      format: flags.output ?? 'text',
      summary: flags.summary === true,
      from: against === LIVE ? liveName(sources) : against,
      to: flags.branch ?? 'working directory',
      now: systemClock.now(),
      notes: [
        ...before.notes,
        ...(moving === 0
          ? []
          : [
              `${plural(moving, 'cluster has', 'clusters have')} not received the newest Release yet; the comparison uses the newest Release`,
            ]),
      ],
      renderCommand: (bundle, cluster) => renderCommand({ bundle, cluster, root, fileOf }),
    }),
  )
  if (bundles.some(({ unknown }) => unknown !== undefined)) return EXIT.usage
  return bundles.some(({ groups }) => groups.some(isDifference)) ? EXIT.failed : EXIT.ok
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
