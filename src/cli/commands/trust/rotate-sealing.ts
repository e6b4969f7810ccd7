/** `flotilla trust rotate sealing`: rotates the sealing keys of clusters. */
import { compact } from '../../../core/compact.ts'
import { systemClock } from '../../../core/time/system-clock.ts'
import { formatTime } from '../../../core/time/time.ts'
import { isSealingKeyRetired } from '../../../plan/fleet/sealing-key.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { whoAmI } from '../../api/who-am-i.ts'
import { relativeTime } from '../../print/print-time.ts'
import { confirmMany, resolveClusters, writeClusterSpec } from '../cluster/resolve-clusters.ts'
import type { ResolveClustersInput } from '../cluster/resolve-clusters.ts'

/** Retires the sealing keys of clusters. Each agent creates a new key, and the hub seals the values again. */
export async function trustRotateSealing(names: readonly string[], input: ResolveClustersInput): Promise<void> {
  const { connection, terminal, flags } = input
  const clusters = await resolveClusters(names, input)
  const outside = clusters.filter(({ spec }) => !spec.accepted || spec.refused)
  if (outside.length > 0) {
    throw new CliError(EXIT.failed, {
      what: `not accepted: ${outside.map(({ metadata }) => metadata.name).join(', ')}; nothing was changed`,
      todo: `accept the cluster first with "flotilla cluster accept ${outside[0]!.metadata.name}"`,
    })
  }
  const fresh = clusters.filter((cluster) => !isSealingKeyRetired(cluster))
  for (const cluster of clusters) {
    if (fresh.includes(cluster)) continue
    terminal.step(
      'ok',
      `cluster "${cluster.metadata.name}" was already asked for a new sealing key ${relativeTime(cluster.spec.retiredSealingKey!.at, systemClock.now())}`,
    )
  }
  if (fresh.length === 0) return
  await confirmMany(fresh, 'rotate the sealing key and seal all secret values again on', input)
  const { username: by } = await whoAmI(connection.rest)
  const asked = compact({
    at: formatTime(systemClock.now()),
    by,
    reason: flags.reason,
  })
  for (const cluster of fresh) {
    await writeClusterSpec(cluster, { retiredSealingKey: { ...asked, key: cluster.spec.sealingKey } }, input)
    terminal.step('ok', `cluster "${cluster.metadata.name}" is asked for a new sealing key`)
  }
  terminal.say('an offline agent creates its key when it reconnects; until then condition SealingKeyRetired is True')
  terminal.step('next', 'if the old key was disclosed, change the secret values that were sealed with it')
}
