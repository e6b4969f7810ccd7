// Tested by src/cli/commands/observe/trace.test.ts.
/** `flotilla tree`: Sources with their Bundles, Placements and newest rollouts. */
import type { Client } from '../../../client/client.ts'
import { settleAll } from '../../../core/async/settle-all.ts'
import { clientOver } from '../../../client/create-client.ts'
import { compact } from '../../../core/compact.ts'
import { findCondition } from '../../../core/conditions.ts'
import type { Bundle } from '../../../kinds/native/bundle.ts'
import type { Placement } from '../../../kinds/native/placement.ts'
import type { Rollout } from '../../../kinds/native/rollout.ts'
import type { Source } from '../../../kinds/native/source.ts'
import type { Connection } from '../../api/connect.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { listReadable, readIfAllowed } from '../../api/read-if-allowed.ts'
import { BUNDLES, listAll, PLACEMENTS, ROLLOUTS, SOURCES } from '../../api/flotilla-resources.ts'
import { shortRevision } from '../../../core/text/short-revision.ts'
import { didYouMean } from '../../errors/did-you-mean.ts'
import { excuses, failedIn } from '../../print/print-rollout.ts'
import type { Terminal } from '../../print/terminal.ts'
import { fieldVersions } from './field-versions.ts'

export interface TreeInput {
  readonly connection: Pick<Connection, 'rest'> & Partial<Pick<Connection, 'namespace'>>
  readonly terminal: Pick<Terminal, 'data' | 'say' | 'isUtf8'>
  readonly flags: { readonly namespace?: string; readonly output?: 'text' | 'json' }
}

interface Branch {
  readonly text: string
  readonly below?: readonly Branch[]
}

/** Prints the tree of all Bundles, or of a Bundle. */
export async function tree(words: readonly string[], { connection, terminal, flags }: TreeInput): Promise<void> {
  const [wanted] = words
  const client = clientOver(connection.rest)
  const where = { namespace: flags.namespace, connection, terminal }
  const { items: bundles, scope } = await listReadable('bundles', where, (among) => listAll(client, BUNDLES, among))
  const [sources, placements, rollouts] = await settleAll([
    readIfAllowed('sources', listAll(client, SOURCES, scope)),
    readIfAllowed('placements', listAll(client, PLACEMENTS, scope)),
    readIfAllowed('rollouts', listAll(client, ROLLOUTS, scope)),
  ])
  const hidden = [sources, placements, rollouts].flatMap(({ refused }) => refused ?? [])
  const chosen = bundles.filter(({ metadata }) => wanted === undefined || metadata.name === wanted)
  if (chosen.length === 0) {
    if (wanted === undefined) return terminal.say('No Bundles found.')
    const names = bundles.map(({ metadata }) => metadata.name)
    throw new CliError(EXIT.notFound, {
      what: `bundle ${JSON.stringify(wanted)} not found`,
      todo: didYouMean(wanted, names) ?? 'list Bundles with "flotilla get bundles -A"',
    })
  }
  const versions = await versionsOf(client, chosen)
  const nodes = nodesOf(chosen, {
    sources: sources.items,
    placements: placements.items,
    rollouts: rollouts.items,
    versions,
    hidesSources: sources.refused !== undefined,
  })
  if (flags.output === 'json') terminal.data(`${JSON.stringify(nodes, undefined, 2)}\n`)
  else terminal.data(nodes.map((node) => drawn(sourceBranch(node), terminal.isUtf8)).join(''))
  if (hidden.length > 0) terminal.say(`not shown: you may not list ${hidden.join(', ')}`)
}

interface Others {
  readonly sources: readonly Source[]
  readonly placements: readonly Placement[]
  readonly rollouts: readonly Rollout[]
  /** What the clusters of a Bundle run, by `namespace/name`; only for Bundles that are held back. */
  readonly versions: ReadonlyMap<string, string>
  /** The caller may not list Sources. */
  readonly hidesSources: boolean
}

/** After a rollback, clusters can run several versions, and none of them is the newest commit. */
async function versionsOf(client: Client, bundles: readonly Bundle[]): Promise<ReadonlyMap<string, string>> {
  const versions = new Map<string, string>()
  for (const { metadata, status } of bundles) {
    if (conditionOf({ status }, 'Reverted')?.status !== 'True') continue
    const { namespace = 'default', name } = metadata
    const text = await fieldVersions(client, { namespace, name })
    if (text !== undefined) versions.set(`${namespace}/${name}`, text)
  }
  return versions
}

/** A Source with its Bundles; Bundles with inline manifests have no Source. */
interface SourceNode {
  readonly namespace: string
  readonly source?: string
  readonly found?: boolean
  readonly revision?: string
  readonly problem?: { readonly reason: string; readonly message: string }
  readonly bundles: readonly BundleNode[]
}

interface BundleNode {
  readonly namespace?: string
  readonly name: string
  readonly path?: string
  readonly state: string
  /** The hold after a rollback. */
  readonly reverted?: string
  /** What the clusters run while the Bundle is held back. */
  readonly versions?: string
  readonly placement: { readonly name: string; readonly message: string }
  readonly rollout?: RolloutNode
}

interface RolloutNode {
  readonly name: string
  readonly phase: string
  readonly isRemoval: boolean
  readonly counts?: NonNullable<Rollout['status']>['counts']
  readonly held?: string
  readonly rings: readonly RingNode[]
}

interface RingNode {
  readonly name: string
  readonly members: number
  readonly ready: number
  readonly failed: number
  readonly excused: readonly { readonly count: number; readonly word: string }[]
  readonly passedAt?: string
}

function nodesOf(bundles: readonly Bundle[], others: Others): readonly SourceNode[] {
  const bySource = new Map<string, Bundle[]>()
  for (const bundle of bundles) {
    const { namespace = '' } = bundle.metadata
    const key = `${namespace}/${bundle.spec.source?.name ?? ''}`
    bySource.set(key, [...(bySource.get(key) ?? []), bundle])
  }
  return [...bySource]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, fed]) => {
      const [namespace = '', name = ''] = key.split('/')
      const source = others.sources.find(({ metadata }) => key === `${metadata.namespace ?? ''}/${metadata.name}`)
      const ready = source && conditionOf(source, 'Ready')
      return compact({
        namespace,
        source: name === '' ? undefined : name,
        // Without the right to list Sources, nothing is known of the Source.
        found: name === '' || others.hidesSources ? undefined : source !== undefined,
        revision: source?.status?.artifact?.revision,
        problem: ready?.status === 'False' ? { reason: ready.reason, message: ready.message } : undefined,
        bundles: fed.map((bundle) => bundleNode(bundle, others)),
      })
    })
}

function bundleNode(bundle: Bundle, { placements, rollouts, versions }: Others): BundleNode {
  const { namespace, name } = bundle.metadata
  const same = (other: { readonly metadata: { readonly namespace?: string } }) => other.metadata.namespace === namespace
  const placement = placements.find((one) => same(one) && one.metadata.name === bundle.spec.placement)
  const newest = rollouts.find((one) => same(one) && one.spec.release === bundle.status?.release && !one.spec.removal)
  const reverted = conditionOf(bundle, 'Reverted')
  return compact({
    namespace,
    name,
    path: bundle.spec.source?.path,
    state: conditionOf(bundle, 'Ready')?.reason ?? 'Pending',
    reverted: reverted?.status === 'True' ? reverted.message : undefined,
    versions: versions.get(`${namespace}/${name}`),
    placement: { name: bundle.spec.placement, message: placementText(placement) },
    rollout: newest && rolloutNode(newest),
  })
}

function placementText(placement: Placement | undefined): string {
  if (!placement) return 'not found'
  return conditionOf(placement, 'Ready')?.message ?? 'not decided yet'
}

function rolloutNode({ metadata, spec, status }: Rollout): RolloutNode {
  const hold = conditionOf({ status }, 'Held')
  return compact({
    name: metadata.name,
    phase: status?.phase ?? 'Pending',
    isRemoval: spec.removal !== undefined,
    counts: status?.counts,
    held: hold?.status === 'True' ? hold.message : undefined,
    rings: spec.rings.map(({ name }) => {
      const ring = status?.rings?.find((one) => one.name === name)
      return compact({
        name,
        members: ring?.members ?? 0,
        ready: ring?.ready ?? 0,
        failed: ring ? failedIn(ring) : 0,
        excused: ring ? excuses(ring).map(({ count, word }) => ({ count, word })) : [],
        passedAt: ring?.passedAt,
      })
    }),
  })
}

function sourceBranch({ namespace, source, found, revision, problem, bundles }: SourceNode): Branch {
  const below = bundles.map(bundleBranch)
  if (source === undefined) return { text: `Bundles of ${namespace} with inline manifests`, below }
  const parts = [
    `Source ${namespace}/${source}`,
    ...(found === false ? ['not found'] : []),
    ...(revision === undefined ? [] : [shortRevision(revision)]),
    ...(problem ? [`${problem.reason}: ${problem.message}`] : []),
  ]
  return { text: parts.join('   '), below }
}

function bundleBranch({ name, path, state, reverted, versions, placement, rollout }: BundleNode): Branch {
  return {
    text: `Bundle ${name}${path === undefined ? '' : `   path ${path}`}   ${state}`,
    below: [
      ...(reverted === undefined ? [] : [{ text: reverted }]),
      ...(versions === undefined ? [] : [{ text: `Clusters run   ${versions}` }]),
      { text: `Placement ${placement.name}   ${placement.message}` },
      ...(rollout ? [rolloutBranch(rollout)] : []),
    ],
  }
}

function rolloutBranch({ name, phase, counts, held, isRemoval, rings }: RolloutNode): Branch {
  const done = isRemoval ? 'removed' : 'ready'
  return {
    text: [
      `Rollout ${name}`,
      phase,
      ...(counts ? [countsText(counts, done)] : []),
      ...(held === undefined ? [] : [held]),
    ].join('   '),
    below: rings.map((ring) => {
      const more = [
        ...(ring.failed > 0 ? [`${ring.failed} failed`] : []),
        ...ring.excused.map(({ count, word }) => `${count} ${word}`),
        ...(ring.passedAt === undefined ? [] : ['passed']),
      ]
      return {
        text: `Ring ${ring.name}   ${ring.ready}/${ring.members} ${done}${more.map((text) => `, ${text}`).join('')}`,
      }
    }),
  }
}

/** The clusters by state. The counts add up to the total. */
function countsText(
  { total, ...counts }: NonNullable<NonNullable<Rollout['status']>['counts']>,
  done: 'ready' | 'removed',
): string {
  const others = (['progressing', 'pending', 'failed', 'offline'] as const).flatMap((state) =>
    counts[state] > 0 ? [`${counts[state]} ${state}`] : [],
  )
  return [`${counts.ready} of ${total} ${done}`, ...others].join(', ')
}

interface WithConditions {
  readonly status?:
    | { readonly conditions?: readonly { type: string; status: string; reason: string; message: string }[] | undefined }
    | undefined
}

function conditionOf({ status }: WithConditions, type: string) {
  return findCondition(status?.conditions, type)
}

function drawn({ text, below = [] }: Branch, isUtf8: boolean, indent = ''): string {
  const [middle, last, bar] = isUtf8 ? ['├─ ', '└─ ', '│  '] : ['|- ', '`- ', '|  ']
  const lines = below.map((branch, index) => {
    const isLast = index === below.length - 1
    return `${indent}${isLast ? last : middle}${drawn(branch, isUtf8, `${indent}${isLast ? '   ' : bar}`)}`
  })
  return `${text}\n${lines.join('')}`
}
