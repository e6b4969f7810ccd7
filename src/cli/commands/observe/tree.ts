// Tested by src/cli/commands/observe/trace.test.ts.
/** `flotilla tree`: Sources with their Bundles, Placements and newest rollouts. */
import type { Client } from '../../../client/client.ts'
import { settleAll } from '../../../core/async/settle-all.ts'
import { clientOver } from '../../../client/create-client.ts'
import { findCondition } from '../../../core/conditions.ts'
import type { Bundle } from '../../../kinds/native/bundle.ts'
import type { Placement } from '../../../kinds/native/placement.ts'
import type { Rollout } from '../../../kinds/native/rollout.ts'
import type { Source } from '../../../kinds/native/source.ts'
import type { Connection } from '../../api/connect.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { BUNDLES, listAll, PLACEMENTS, ROLLOUTS, SOURCES } from '../../api/flotilla-resources.ts'
import { shortRevision } from '../../../core/text/short-revision.ts'
import { didYouMean } from '../../errors/did-you-mean.ts'
import { excuses, failedIn } from '../../print/print-rollout.ts'
import type { Terminal } from '../../print/terminal.ts'
import { fieldVersions } from './field-versions.ts'

export interface TreeInput {
  readonly connection: Pick<Connection, 'rest'>
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
  const scope = flags.namespace === undefined ? {} : { namespace: flags.namespace }
  const [bundles, sources, placements, rollouts] = await settleAll([
    listAll(client, BUNDLES, scope),
    listAll(client, SOURCES, scope),
    listAll(client, PLACEMENTS, scope),
    listAll(client, ROLLOUTS, scope),
  ])
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
  const branches = branchesOf(chosen, { sources, placements, rollouts, versions })
  if (flags.output === 'json') return terminal.data(`${JSON.stringify(branches, undefined, 2)}\n`)
  terminal.data(branches.map((branch) => drawn(branch, terminal.isUtf8)).join(''))
}

interface Others {
  readonly sources: readonly Source[]
  readonly placements: readonly Placement[]
  readonly rollouts: readonly Rollout[]
  /** What the clusters of a Bundle run, by `namespace/name`; only for Bundles that are held back. */
  readonly versions: ReadonlyMap<string, string>
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

function branchesOf(bundles: readonly Bundle[], others: Others): readonly Branch[] {
  const bySource = new Map<string, Bundle[]>()
  for (const bundle of bundles) {
    const { namespace = '' } = bundle.metadata
    const key = bundle.spec.source ? `${namespace}/${bundle.spec.source.name}` : `${namespace}/`
    bySource.set(key, [...(bySource.get(key) ?? []), bundle])
  }
  return [...bySource]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, fed]) => {
      const source = others.sources.find(({ metadata }) => key === `${metadata.namespace ?? ''}/${metadata.name}`)
      const text = key.endsWith('/')
        ? `Bundles of ${key.slice(0, -1)} with inline manifests`
        : `Source ${key}${sourceText(source)}`
      return { text, below: fed.map((bundle) => bundleBranch(bundle, others)) }
    })
}

function sourceText(source: Source | undefined): string {
  if (!source) return '   not found'
  const ready = conditionOf(source, 'Ready')
  const revision = source.status?.artifact?.revision
  return `${revision === undefined ? '' : `   ${shortRevision(revision)}`}${ready?.status === 'False' ? `   ${ready.reason}: ${ready.message}` : ''}`
}

function bundleBranch(bundle: Bundle, { placements, rollouts, versions }: Others): Branch {
  const { namespace, name } = bundle.metadata
  const same = (other: { readonly metadata: { readonly namespace?: string } }) => other.metadata.namespace === namespace
  const placement = placements.find((one) => same(one) && one.metadata.name === bundle.spec.placement)
  const newest = rollouts.find((one) => same(one) && one.spec.release === bundle.status?.release && !one.spec.removal)
  const ready = conditionOf(bundle, 'Ready')
  const path = bundle.spec.source?.path
  const reverted = conditionOf(bundle, 'Reverted')
  const field = versions.get(`${namespace}/${name}`)
  return {
    text: `Bundle ${name}${path === undefined ? '' : `   path ${path}`}   ${ready?.reason ?? 'Pending'}`,
    below: [
      ...(reverted?.status === 'True' ? [{ text: reverted.message }] : []),
      ...(field === undefined ? [] : [{ text: `Clusters run   ${field}` }]),
      { text: `Placement ${bundle.spec.placement}   ${placementText(placement)}` },
      ...(newest ? [rolloutBranch(newest)] : []),
    ],
  }
}

function placementText(placement: Placement | undefined): string {
  if (!placement) return 'not found'
  return conditionOf(placement, 'Ready')?.message ?? 'not decided yet'
}

function rolloutBranch({ metadata, spec, status }: Rollout): Branch {
  const rings = status?.rings ?? []
  const hold = conditionOf({ status }, 'Held')
  return {
    text: [
      `Rollout ${metadata.name}`,
      status?.phase ?? 'Pending',
      ...(status?.counts ? [countsText(status.counts, spec.removal ? 'removed' : 'ready')] : []),
      ...(hold?.status === 'True' ? [hold.message] : []),
    ].join('   '),
    below: spec.rings.map(({ name }) => {
      const ring = rings.find((one) => one.name === name)
      const more = [
        ...(ring && failedIn(ring) > 0 ? [`${failedIn(ring)} failed`] : []),
        ...(ring ? excuses(ring).map(({ count, word }) => `${count} ${word}`) : []),
        ...(ring?.passedAt ? ['passed'] : []),
      ]
      return {
        text: `Ring ${name}   ${ring?.ready ?? 0}/${ring?.members ?? 0} ${spec.removal ? 'removed' : 'ready'}${more.map((text) => `, ${text}`).join('')}`,
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
