/** `flotilla flux diff kustomization`: what a local directory would change in the clusters of a Kustomization. */
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Client } from '../../../../client/client.ts'
import { clientOver } from '../../../../client/create-client.ts'
import { compact } from '../../../../core/compact.ts'
import { canonicalJson } from '../../../../core/json.ts'
import { nameSome, plural } from '../../../../core/text/name-some.ts'
import type { ResourceType } from '../../../../kinds/meta.ts'
import type { Bundle } from '../../../../kinds/native/bundle.ts'
import { CliError, EXIT } from '../../../errors/cli-error.ts'
import type { ExitCode } from '../../../errors/cli-error.ts'
import { explainError } from '../../../errors/explain-error.ts'
import { readText } from '../../../input/read-text-file.ts'
import { diskTree } from '../../../repository/disk-tree.ts'
import type { Connection } from '../../../api/connect.ts'
import type { Terminal } from '../../../print/terminal.ts'
import { localSources } from '../build-kustomization.ts'
import { FLUX_COMMAND_KINDS } from '../flux-kinds.ts'
import { named } from '../flux-objects.ts'
import { compareDelivered } from './compare-delivered.ts'
import type { Comparison } from './compare-delivered.ts'
import { nestedChanges } from './nested-changes.ts'
import { changesText } from './print-changes.ts'
import { findBundle, findIn, readData, readDelivered } from './read-scene.ts'
import type { DeliveredScene, Kustomization, SceneData } from './read-scene.ts'
import { renderSides } from './render-sides.ts'

/** Flags of `flux diff kustomization`. */
export interface FluxDiffFlags {
  readonly path?: string
  readonly kustomizationFile?: string
  readonly namespace?: string
  readonly ignorePaths?: readonly string[]
  readonly recursive?: boolean
  readonly localSources?: readonly string[]
}

export interface FluxDiffInput {
  readonly connection: Pick<Connection, 'rest'>
  readonly terminal: Terminal
  readonly signal: AbortSignal
  readonly flags: FluxDiffFlags
}

/** Compares and prints. Exits with 0 without differences, 1 with differences, and more if it could not compare all. */
export async function fluxDiff(name: string, input: FluxDiffInput): Promise<ExitCode> {
  const { terminal } = input
  try {
    const found = await diffAll(name, input)
    for (const problem of found.notCompared) terminal.step('warn', `not compared: ${problem}`)
    if (found.notCompared.length > 0) return EXIT.usage
    if (!found.isChanged) return EXIT.ok
    terminal.step('fail', 'identified at least one change, exiting with non-zero exit code')
    return EXIT.failed
  } catch (caught) {
    // 1 means differences.
    const { exitCode, report } = explainError(caught)
    if (exitCode !== EXIT.failed) throw caught
    throw new CliError(EXIT.usage, report, { cause: caught })
  }
}

interface Found {
  readonly isChanged: boolean
  readonly notCompared: readonly string[]
}

interface Asked {
  readonly object: Kustomization
  readonly directory: string
  /** The lines above the changes of a nested Kustomization. */
  readonly title: string
}

const MOST_BUILDS = 1000

async function diffAll(name: string, input: FluxDiffInput): Promise<Found> {
  const { flags } = input
  const client = clientOver(input.connection.rest)
  const waiting: Asked[] = [
    { object: await readKustomization(name, client, input), directory: directoryOf(flags), title: '' },
  ]
  const sources = flags.recursive ? localSources(flags.localSources ?? []) : undefined
  const done = new Set<string>()
  const notCompared: string[] = []
  let isChanged = false
  for (let next = waiting.shift(); next && done.size < MOST_BUILDS; next = waiting.shift()) {
    if (done.has(next.object.metadata.name)) continue
    done.add(next.object.metadata.name)
    const found = await diffOne(next, client, input)
    isChanged ||= found.isChanged
    notCompared.push(...found.notCompared)
    for (const object of sources ? found.nested : []) {
      waiting.push({ object, directory: nestedDirectory(object, sources!), title: titleOf(object) })
    }
  }
  return { isChanged, notCompared }
}

function titleOf({ metadata }: Kustomization): string {
  return `📁 Kustomization/${metadata.namespace ?? ''}/${metadata.name} changed\n`
}

async function diffOne(
  { object, directory, title }: Asked,
  client: Client,
  { terminal, flags }: FluxDiffInput,
): Promise<Found & { readonly nested: readonly Kustomization[] }> {
  const { previewNeeds, previewBundle } = await import('../../../../dialects/flux/compile/preview-kustomization.ts')
  const { namespace = '', name } = object.metadata
  const needs = previewNeeds(object)
  if (needs.problem !== undefined) throw notCompared(`Kustomization ${name}: ${needs.problem}`)
  const live = await findBundle(client, { namespace, name: needs.bundle })
  const placement = live?.spec.placement ?? needs.placement ?? (await placementOfNamespace(client, namespace)) ?? ''
  if (live && needs.placement !== undefined && needs.placement !== live.spec.placement) {
    throw notCompared(
      `Kustomization ${name} is delivered to Placement ${live.spec.placement}, and the file names Placement ${needs.placement}`,
    )
  }
  const data = await readData(client, namespace, needs.substituteFrom)
  const bundle = previewBundle(object, {
    live,
    placement,
    configMaps: data.configMaps,
    secrets: Object.keys(data.secrets),
  })
  const local = { tree: diskTree(), directory, ignorePaths: flags.ignorePaths ?? [], note: noteTo(terminal) }
  const nested = await nestedChanges(object, bundle, { client, local, placement })
  for (const message of nested.leftOut) terminal.step('warn', message)
  const scene = await readDelivered(client, { namespace, name: needs.bundle, live, placement })
  const compared = await compareClusters(scene, { bundle, live, data, local, prunes: needs.prunes })
  if (scene.clusters.length === 0 && nested.hasOthers) {
    compared.problems.push(`Kustomization ${name} reaches no cluster, so that there is nothing to compare with`)
  }
  const text = changesText(compared.groups, scene.clusters.length)
  const isChanged = text !== '' || nested.text !== ''
  terminal.data(isChanged ? `${title}${nested.text}${text}` : '')
  sayNotes(compared.groups, scene, terminal)
  return { isChanged, notCompared: compared.problems, nested: nested.kustomizations }
}

interface Group extends Comparison {
  readonly clusters: string[]
}

interface Sides {
  readonly bundle: Bundle
  readonly live: Bundle | undefined
  readonly data: SceneData
  readonly local: Parameters<typeof renderSides>[1]['local']
  readonly prunes: boolean
}

/** Clusters with the same result are one group. */
async function compareClusters(
  scene: DeliveredScene,
  sides: Sides,
): Promise<{ readonly groups: readonly Group[]; readonly problems: string[] }> {
  const rendered = await renderSides(scene, sides)
  const groups = new Map<string, Group>()
  const problems = new Map<string, string[]>()
  const cannot = (problem: string, cluster: string): void =>
    void problems.set(problem, [...(problems.get(problem) ?? []), cluster])
  for (const { inputs, rows, isUnknown } of scene.clusters) {
    const built = rendered.built(inputs.name)
    if (isUnknown) cannot('the hub does not store the objects that it delivers', inputs.name)
    else if (typeof built === 'string') cannot(built, inputs.name)
    else {
      const candidates = rendered.candidates(inputs.name)
      const found = compareDelivered({ built, rows, candidates, prunes: sides.prunes })
      for (const problem of found.notCompared) cannot(problem, inputs.name)
      // A build of the delivered commit that equals what is delivered shows that no Override changes it.
      if (!scene.hasOverrides && !found.isProven && rows.length > 0 && found.changes.length > 0) {
        cannot('you may not list overrides, and one could make the difference', inputs.name)
      }
      const key = canonicalJson(found)
      const group = groups.get(key) ?? { ...found, clusters: [] }
      group.clusters.push(inputs.name)
      groups.set(key, group)
    }
  }
  const named = [...problems].map(([problem, clusters]) => `${nameSome(clusters)}: ${problem}`)
  return { groups: [...groups.values()], problems: named }
}

function sayNotes(groups: readonly Group[], { clusters }: DeliveredScene, terminal: Terminal): void {
  const offline = clusters.filter(({ isOffline }) => isOffline).map(({ inputs }) => inputs.name)
  if (offline.length > 0) {
    terminal.step('warn', `offline, compared with what was delivered to them: ${nameSome(offline)}`)
  }
  const silent = groups.filter(({ unreported }) => unreported > 0).flatMap(({ clusters: names }) => names)
  if (silent.length > 0) {
    terminal.step(
      'warn',
      `the agent has not reported the state of all objects, compared with what was delivered: ${nameSome(silent)}`,
    )
  }
  const opaque = groups.flatMap(({ changes }) => changes.filter(({ isOpaque }) => isOpaque === true))
  const changed = opaque.filter(({ action }) => action === 'drifted').length
  if (changed > 0) {
    terminal.step(
      'warn',
      `the fields of ${plural(changed, 'object')} are not shown: the directory is in no clone of git that has the delivered commit, or the hub built something else from it`,
    )
  }
  if (opaque.some(({ action }) => action === 'deleted')) {
    terminal.step('warn', 'objects with the annotation kustomize.toolkit.fluxcd.io/prune: disabled are not deleted')
  }
}

const noteTo =
  (terminal: Terminal) =>
  (text: string): void =>
    terminal.step('warn', text)

function notCompared(what: string): CliError {
  return new CliError(EXIT.usage, { what: `not compared: ${what}` })
}

/** The Kustomization of the hub with the spec of the file. */
async function readKustomization(name: string, client: Client, input: FluxDiffInput): Promise<Kustomization> {
  const { namespace = 'flux-system', kustomizationFile: file } = input.flags
  const type = FLUX_COMMAND_KINDS.kustomization.type as unknown as ResourceType<Kustomization>
  if (file === undefined) {
    const { connection, terminal, signal } = input
    const own = { connection, terminal, signal, flags: { namespace } }
    return await named(FLUX_COMMAND_KINDS.kustomization, name, client, own)
  }
  const [{ findKustomization }, { kustomizationOf }, { FluxBuildError }] = await Promise.all([
    import('../../../../dialects/flux/build/flux-kustomization.ts'),
    import('../../../../dialects/flux/compile/preview-kustomization.ts'),
    import('../../../../dialects/flux/build/flux-build-error.ts'),
  ])
  const live = await findIn(client, type, { namespace, name })
  const text = await readText(file)
  try {
    return kustomizationOf(findKustomization(text, { name, namespace, file }), live)
  } catch (caught) {
    if (!(caught instanceof FluxBuildError)) throw caught
    throw new CliError(EXIT.usage, { what: caught.message }, { cause: caught })
  }
}

function directoryOf({ path = '' }: FluxDiffFlags): string {
  const directory = resolve(path)
  if (path !== '' && statSync(directory, { throwIfNoEntry: false })?.isDirectory()) return directory
  throw new CliError(EXIT.usage, { what: `invalid resource path ${JSON.stringify(path)}` })
}

function nestedDirectory({ metadata, spec }: Kustomization, sources: ReadonlyMap<string, string>): string {
  const {
    kind = '',
    namespace = metadata.namespace ?? '',
    name = '',
  } = (spec['sourceRef'] ?? {}) as Record<string, string>
  const root = sources.get(`${kind}/${namespace}/${name}`)
  if (root !== undefined) return resolve(root, `./${typeof spec['path'] === 'string' ? spec['path'] : '.'}`)
  throw new CliError(EXIT.usage, {
    what: `cannot get local path for ${kind}/${namespace}/${name} of kustomization ${metadata.name}`,
    todo: `name its directory with --local-sources ${kind}/${namespace}/${name}=DIR`,
  })
}

/** The Placement that the Namespace names; a user of the namespace may not be able to read it. */
async function placementOfNamespace(client: Client, name: string): Promise<string | undefined> {
  const type: ResourceType<Kustomization> = compact({
    group: '',
    version: 'v1',
    kind: 'Namespace',
    plural: 'namespaces',
    scope: 'Cluster',
  })
  const found = await findIn(client, type, { name }).catch((caught: unknown) => {
    if (explainError(caught).exitCode === EXIT.forbidden) return undefined
    throw caught
  })
  return found?.metadata.annotations?.['flotilla.dev/placement']
}
