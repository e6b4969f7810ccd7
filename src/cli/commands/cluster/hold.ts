/** `flotilla cluster hold`, `release`, `cordon` and `uncordon`. */
import { clientOver } from '../../../client/create-client.ts'
import { isApiError } from '../../../core/errors.ts'
import { plural } from '../../../core/text/name-some.ts'
import { systemClock } from '../../../core/time/system-clock.ts'
import { formatTime } from '../../../core/time/time.ts'
import type { Cluster } from '../../../kinds/native/cluster.ts'
import { holdOfCluster } from '../../../plan/windows/cluster-hold.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { ASSIGNMENTS } from '../../api/flotilla-resources.ts'
import { whoAmI } from '../../api/who-am-i.ts'
import { confirmMany, resolveClusters, writeClusterSpec } from './resolve-clusters.ts'
import type { ResolveClustersInput } from './resolve-clusters.ts'

export type HoldInput = ResolveClustersInput

const WORDS = {
  hold: { done: 'on hold', back: 'release', undone: 'released' },
  cordon: { done: 'cordoned', back: 'uncordon', undone: 'uncordoned' },
} as const

/** Holds clusters. With `cordon`, Placements also do not select them anew. */
export async function clusterHold(field: 'hold' | 'cordon', names: readonly string[], input: HoldInput): Promise<void> {
  const { terminal, flags } = input
  const { done, back } = WORDS[field]
  if (flags.reason === undefined || flags.reason.trim() === '') {
    throw new CliError(EXIT.usage, {
      what: 'missing --reason',
      todo: 'give a reason with --reason TEXT; it is shown to users who wait for the cluster',
    })
  }
  const clusters = await resolveClusters(names, input)
  const { username: by } = await whoAmI(input.connection.rest)
  const fresh = clusters.filter(({ spec }) => !spec[field])
  for (const cluster of clusters) {
    const before = cluster.spec[field]
    if (!before) continue
    // The hold keeps its start time; users who wait see the newest reason.
    if (before.reason !== flags.reason)
      await writeClusterSpec(cluster, { [field]: { ...before, reason: flags.reason, by } }, input)
    const words =
      before.reason === flags.reason ? '' : `; the reason changed from "${before.reason}" to "${flags.reason}"`
    terminal.step('ok', `cluster "${cluster.metadata.name}" is already ${done}${words}`)
  }
  if (fresh.length === 0) return
  const bundles = await bundlesOn(fresh, input)
  const anew = field === 'cordon' ? ', and Placements do not select it anew' : ''
  await confirmMany(fresh, `${field} stops all changes on`, input)
  const held = { reason: flags.reason, since: formatTime(systemClock.now()), by }
  for (const cluster of fresh) await writeClusterSpec(cluster, { [field]: held }, input)
  terminal.step(
    'ok',
    `${fresh.length === 1 ? `cluster "${fresh[0]!.metadata.name}" is` : `${fresh.length} clusters are`} ${done}: no change starts${anew}; ${plural(bundles, 'Bundle')} ${bundles === 1 ? 'continues' : 'continue'} to run and drift is repaired`,
  )
  const target = fresh.length === 1 ? fresh[0]!.metadata.name : namesOrSelector(names, flags.selector)
  terminal.step('next', `flotilla cluster ${back} ${target}`)
}

/** Releases clusters. A cluster with another hold stays on hold. */
export async function clusterRelease(
  field: 'hold' | 'cordon',
  names: readonly string[],
  input: HoldInput,
): Promise<void> {
  const { terminal } = input
  const { undone, done } = WORDS[field]
  const clusters = await resolveClusters(names, input)
  const bound = clusters.filter(({ spec }) => spec[field])
  for (const { metadata, spec } of clusters) {
    if (!spec[field]) terminal.step('ok', `cluster "${metadata.name}" is not ${done}`)
  }
  if (bound.length === 0) return
  await confirmMany(bound, 'start waiting changes on', input)
  for (const cluster of bound) {
    await writeClusterSpec(cluster, { [field]: null }, input)
    const left = holdOfCluster({ ...cluster, spec: { ...cluster.spec, [field]: undefined } })
    const more = left ? `; still ${left.message}; end this with ${left.command}` : ''
    terminal.step('ok', `cluster "${cluster.metadata.name}" ${undone}${more}`)
  }
}

async function bundlesOn(clusters: readonly Cluster[], { connection }: HoldInput): Promise<number> {
  const client = clientOver(connection.rest)
  let bundles = 0
  for (const { metadata } of clusters) {
    try {
      bundles += (await client.get(ASSIGNMENTS, { name: metadata.name })).spec.entries?.length ?? 0
    } catch (caught) {
      if (!isApiError(caught, 'NotFound')) throw caught
    }
  }
  return bundles
}

function namesOrSelector(names: readonly string[], selector: string | undefined): string {
  return selector === undefined ? names.join(' ') : `-l ${selector}`
}
