/** `flotilla cluster hold`, `release`, `cordon` and `uncordon`: nothing new begins there until it may. */
import { clientOver } from '../../client/create-client.ts'
import { isApiError } from '../../core/errors.ts'
import { systemClock } from '../../core/system-clock.ts'
import { formatTime } from '../../core/time.ts'
import type { Cluster } from '../../kinds/cluster.ts'
import { holdOfCluster } from '../../plan/cluster-hold.ts'
import { askBefore } from '../ask-before.ts'
import type { CliEnvironment } from '../config.ts'
import type { Connection } from '../connect.ts'
import { CliError, EXIT } from '../exit.ts'
import { ASSIGNMENTS, CLUSTERS, listAll } from '../own-kinds.ts'
import { didYouMean } from '../suggest.ts'
import type { Terminal } from '../terminal.ts'
import { whoAmI } from '../who-am-i.ts'

/** What these commands work with. */
export interface HoldInput {
  readonly connection: Connection
  readonly terminal: Terminal
  readonly environment: Pick<CliEnvironment, 'program'>
  readonly flags: { readonly selector?: string; readonly reason?: string; readonly yes?: boolean }
  readonly confirm: (question: string) => Promise<boolean>
}

const WORDS = {
  hold: { done: 'held', back: 'release', undone: 'released' },
  cordon: { done: 'cordoned', back: 'uncordon', undone: 'uncordoned' },
} as const

/** Holds clusters as they are; with `cordon` nobody selects them anew either. */
export async function clusterHold(field: 'hold' | 'cordon', names: readonly string[], input: HoldInput): Promise<void> {
  const { terminal, environment, flags } = input
  const { done, back } = WORDS[field]
  if (flags.reason === undefined || flags.reason.trim() === '') {
    throw new CliError(EXIT.usage, {
      what: `why is it ${done}?`,
      todo: 'say --reason "…": everybody who waits will read it',
    })
  }
  const clusters = await chosen(names, input)
  const fresh = clusters.filter(({ spec }) => !spec[field])
  for (const { metadata } of clusters) {
    if (!fresh.some((cluster) => cluster.metadata.name === metadata.name)) {
      terminal.step('ok', `cluster ${metadata.name} was ${done} already`)
    }
  }
  if (fresh.length === 0) return
  const bundles = await bundlesOn(fresh, input)
  const anew = field === 'cordon' ? ', and no placement selects it anew' : ''
  await askForMany(fresh, `${field} stops every change on`, input)
  const { username: by } = await whoAmI(input.connection.rest)
  const held = { reason: flags.reason, since: formatTime(systemClock.now()), by }
  for (const cluster of fresh) await write(cluster, { [field]: held }, input)
  terminal.step(
    'ok',
    `${fresh.length === 1 ? `cluster ${fresh[0]!.metadata.name}` : `${fresh.length} clusters`} ${done}: nothing new begins there${anew}; ${bundles} bundles stay as they are and are repaired`,
  )
  const whom = fresh.length === 1 ? fresh[0]!.metadata.name : namesOrSelector(names, flags.selector)
  terminal.step('next', `${environment.program} cluster ${back} ${whom}`)
}

/** Lets clusters change again, as far as nothing else holds them. */
export async function clusterRelease(
  field: 'hold' | 'cordon',
  names: readonly string[],
  input: HoldInput,
): Promise<void> {
  const { terminal } = input
  const { undone, done } = WORDS[field]
  const clusters = await chosen(names, input)
  const bound = clusters.filter(({ spec }) => spec[field])
  for (const { metadata, spec } of clusters) {
    if (!spec[field]) terminal.step('ok', `cluster ${metadata.name} is not ${done}`)
  }
  if (bound.length === 0) return
  await askForMany(bound, `what waits begins on`, input)
  for (const cluster of bound) {
    await write(cluster, { [field]: null }, input)
    const left = holdOfCluster({ ...cluster, spec: { ...cluster.spec, [field]: undefined } })
    const more = left ? `; it stays ${left.message}, released by ${left.releasedBy}` : ''
    terminal.step('ok', `cluster ${cluster.metadata.name} ${undone}${more}`)
  }
}

async function chosen(names: readonly string[], input: HoldInput): Promise<Cluster[]> {
  const { connection, environment, flags } = input
  const client = clientOver(connection.rest)
  if (names.length === 0 && flags.selector === undefined) {
    throw new CliError(EXIT.usage, { what: 'which clusters?', todo: 'give their names, or -l key=value' })
  }
  const found = flags.selector === undefined ? [] : await listAll(client, CLUSTERS, { labelSelector: flags.selector })
  if (flags.selector !== undefined && found.length === 0) {
    throw new CliError(EXIT.notFound, {
      what: `no cluster has labels ${flags.selector}`,
      todo: `see: ${environment.program} get clusters --show-labels`,
    })
  }
  for (const name of names) {
    if (found.some(({ metadata }) => metadata.name === name)) continue
    try {
      found.push(await client.get(CLUSTERS, { name }))
    } catch (caught) {
      if (!isApiError(caught, 'NotFound')) throw caught
      const all = await listAll(client, CLUSTERS)
      throw new CliError(EXIT.notFound, {
        what: `there is no cluster ${JSON.stringify(name)}; nothing was changed`,
        todo:
          didYouMean(
            name,
            all.map(({ metadata }) => metadata.name),
          ) ?? `see: ${environment.program} get clusters`,
      })
    }
  }
  return found
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

/** One cluster is easily undone; many are asked about. */
async function askForMany(clusters: readonly Cluster[], what: string, input: HoldInput): Promise<void> {
  if (clusters.length === 1) return
  const some = clusters
    .slice(0, 3)
    .map(({ metadata }) => metadata.name)
    .join(', ')
  await askBefore(`${what} ${clusters.length} clusters (${some}${clusters.length > 3 ? ', …' : ''})`, input)
}

function namesOrSelector(names: readonly string[], selector: string | undefined): string {
  return selector === undefined ? names.join(' ') : `-l ${selector}`
}

async function write({ metadata }: Cluster, spec: object, { connection }: HoldInput): Promise<void> {
  const { name, uid } = metadata
  const body = { metadata: { uid }, spec }
  await clientOver(connection.rest).patch(CLUSTERS, { name }, { type: 'merge', body }, { fieldManager: 'flotilla-cli' })
}
