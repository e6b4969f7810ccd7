/** `flotilla cluster hold`, `release`, `cordon` and `uncordon`: nothing new begins there until it may. */
import { clientOver } from '../../../client/create-client.ts'
import { isApiError } from '../../../core/errors.ts'
import { systemClock } from '../../../core/time/system-clock.ts'
import { formatTime } from '../../../core/time/time.ts'
import type { Cluster } from '../../../kinds/native/cluster.ts'
import { holdOfCluster } from '../../../plan/windows/cluster-hold.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { ASSIGNMENTS } from '../../api/flotilla-resources.ts'
import { whoAmI } from '../../api/who-am-i.ts'
import { confirmMany, resolveClusters, writeClusterSpec } from './resolve-clusters.ts'
import type { ResolveClustersInput } from './resolve-clusters.ts'

/** What these commands work with. */
export type HoldInput = ResolveClustersInput

const WORDS = {
  hold: { done: 'held', back: 'release', undone: 'released' },
  cordon: { done: 'cordoned', back: 'uncordon', undone: 'uncordoned' },
} as const

/** Holds clusters as they are; with `cordon` nobody selects them anew either. */
export async function clusterHold(field: 'hold' | 'cordon', names: readonly string[], input: HoldInput): Promise<void> {
  const { terminal, flags } = input
  const { done, back } = WORDS[field]
  if (flags.reason === undefined || flags.reason.trim() === '') {
    throw new CliError(EXIT.usage, {
      what: `why is it ${done}?`,
      todo: 'say --reason "…": everybody who waits will read it',
    })
  }
  const clusters = await resolveClusters(names, input)
  const { username: by } = await whoAmI(input.connection.rest)
  const fresh = clusters.filter(({ spec }) => !spec[field])
  for (const cluster of clusters) {
    const before = cluster.spec[field]
    if (!before) continue
    // It stays held since then; who waits reads the newest reason.
    if (before.reason !== flags.reason)
      await writeClusterSpec(cluster, { [field]: { ...before, reason: flags.reason, by } }, input)
    const words =
      before.reason === flags.reason ? '' : `; the reason was "${before.reason}" and is "${flags.reason}" now`
    terminal.step('ok', `cluster ${cluster.metadata.name} was ${done} already${words}`)
  }
  if (fresh.length === 0) return
  const bundles = await bundlesOn(fresh, input)
  const anew = field === 'cordon' ? ', and no placement selects it anew' : ''
  await confirmMany(fresh, `${field} stops every change on`, input)
  const held = { reason: flags.reason, since: formatTime(systemClock.now()), by }
  for (const cluster of fresh) await writeClusterSpec(cluster, { [field]: held }, input)
  terminal.step(
    'ok',
    `${fresh.length === 1 ? `cluster ${fresh[0]!.metadata.name}` : `${fresh.length} clusters`} ${done}: nothing new begins there${anew}; ${bundles} ${bundles === 1 ? 'bundle stays as it is and is' : 'bundles stay as they are and are'} repaired`,
  )
  const whom = fresh.length === 1 ? fresh[0]!.metadata.name : namesOrSelector(names, flags.selector)
  terminal.step('next', `flotilla cluster ${back} ${whom}`)
}

/** Lets clusters change again, as far as nothing else holds them. */
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
    if (!spec[field]) terminal.step('ok', `cluster ${metadata.name} is not ${done}`)
  }
  if (bound.length === 0) return
  await confirmMany(bound, `what waits begins on`, input)
  for (const cluster of bound) {
    await writeClusterSpec(cluster, { [field]: null }, input)
    const left = holdOfCluster({ ...cluster, spec: { ...cluster.spec, [field]: undefined } })
    const more = left ? `; it stays ${left.message}; end this with ${left.command}` : ''
    terminal.step('ok', `cluster ${cluster.metadata.name} ${undone}${more}`)
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
