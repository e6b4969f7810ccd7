/** `flotilla trust rotate sealing`: asks agents for new sealing keys. */
import { systemClock } from '../../../core/time/system-clock.ts'
import { formatTime } from '../../../core/time/time.ts'
import { isSealingKeyRetired } from '../../../plan/fleet/sealing-key.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { whoAmI } from '../../api/who-am-i.ts'
import { confirmMany, resolveClusters, writeClusterSpec } from '../cluster/resolve-clusters.ts'
import type { ResolveClustersInput } from '../cluster/resolve-clusters.ts'

/** Retires the sealing keys of clusters: each agent makes a new one, and the hub seals its values again. */
export async function trustRotateSealing(names: readonly string[], input: ResolveClustersInput): Promise<void> {
  const { connection, terminal, flags } = input
  const clusters = await resolveClusters(names, input)
  const outside = clusters.filter(({ spec }) => !spec.accepted || spec.refused)
  if (outside.length > 0) {
    throw new CliError(EXIT.failed, {
      what: `${outside.map(({ metadata }) => metadata.name).join(', ')} may not renew anything; nothing was changed`,
      why: 'a cluster that is not accepted reads no document and gets no values',
      todo: `accept it first: flotilla cluster accept ${outside[0]!.metadata.name}`,
    })
  }
  const fresh = clusters.filter((cluster) => !isSealingKeyRetired(cluster))
  for (const cluster of clusters) {
    if (fresh.includes(cluster)) continue
    terminal.step('ok', `cluster ${cluster.metadata.name} was asked already, at ${cluster.spec.retiredSealingKey!.at}`)
  }
  if (fresh.length === 0) return
  await confirmMany(fresh, 'every secret value is sealed and sent again on', input)
  const { username: by } = await whoAmI(connection.rest)
  const asked = {
    at: formatTime(systemClock.now()),
    by,
    ...(flags.reason === undefined ? {} : { reason: flags.reason }),
  }
  for (const cluster of fresh) {
    await writeClusterSpec(cluster, { retiredSealingKey: { ...asked, key: cluster.spec.sealingKey } }, input)
    terminal.step('ok', `cluster ${cluster.metadata.name} is asked for a new sealing key`)
  }
  terminal.say('an agent that is away hears of it when it returns; condition SealingKeyRetired says so until then')
  terminal.step('next', 'if somebody has the old key: change the values that were sealed to it')
}
