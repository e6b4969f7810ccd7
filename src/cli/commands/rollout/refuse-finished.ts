/** A rollout that is over takes no more words: what a person is told who still says one, the same for every command. */
import { clientOver } from '../../../client/create-client.ts'
import type { Reader } from '../../../client/client.ts'
import { findObject } from '../../../client/find-object.ts'
import { isApiError } from '../../../core/errors.ts'
import type { Rollout } from '../../../kinds/native/rollout.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import type { ErrorReport } from '../../errors/cli-error.ts'
import { BUNDLES, RELEASES } from '../../api/flotilla-resources.ts'
import type { RolloutInput } from './rollout.ts'

type Taken = NonNullable<NonNullable<Rollout['status']>['superseded']>

/** Throws when nothing that is said to the rollout can have an effect; nothing was written by then. */
export async function refuseFinishedRollout(
  rollout: Rollout,
  { connection }: Pick<RolloutInput, 'connection'>,
): Promise<void> {
  const trouble = await overOf(rollout, clientOver(connection.rest))
  if (!trouble) return
  const where = `namespace ${rollout.metadata.namespace ?? 'default'}; nothing was changed`
  throw new CliError(EXIT.conflict, { where, ...trouble })
}

async function overOf(rollout: Rollout, reader: Pick<Reader, 'get'>): Promise<ErrorReport | undefined> {
  const { name, namespace = 'default' } = rollout.metadata
  const taken = await takenOver(rollout, reader)

  if (taken) {
    return {
      what: `rollout ${name} is over: ${[...new Set(taken.map(({ by }) => by))].join(', ')} took over`,
      why: 'it admits nobody any more, so what is said to it has no effect',
      todo: `see the newest: flotilla rollout status ${taken[0]!.bundle} -n ${namespace}`,
    }
  }
  if (rollout.status?.phase === 'Superseded') {
    return {
      what: `rollout ${name} is over: what it brought was deleted, or a newer one took over`,
      why: 'it admits nobody any more, so what is said to it has no effect',
      todo: `see: flotilla get rollouts -n ${namespace}`,
    }
  }
  if (rollout.spec.aborted) {
    return {
      what: `rollout ${name} was aborted`,
      why: 'an aborted rollout never goes on',
      todo: 'edit the Bundle: that makes a new Release with a rollout of its own',
    }
  }
  const { phase, counts } = rollout.status ?? {}
  if (!rollout.spec.removal || phase !== 'Completed' || counts?.ready !== counts?.total) return undefined
  return {
    what: `rollout ${name} is over: ${rollout.spec.removal.bundle} is removed where it was to be`,
    why: 'who joins later never had it, so what is said to it has no effect',
    todo: `see: flotilla rollout status ${name} -n ${namespace}`,
  }
}

/**
 * The rollouts that carry all bundles of this one. What the hub has written down counts; in the moment before it does, the
 * bundles know already which Release is their newest.
 */
async function takenOver({ metadata, spec, status }: Rollout, reader: Pick<Reader, 'get'>): Promise<Taken | undefined> {
  const recorded = status?.superseded ?? []
  if (status?.phase === 'Superseded' && recorded.length > 0) return recorded
  if (spec.removal) return undefined
  const { namespace = 'default' } = metadata
  const taken: Taken = []
  try {
    const release = await findObject(reader, RELEASES, { name: spec.release, namespace })
    for (const { name: bundle, generation } of release?.spec.bundles ?? []) {
      const known = recorded.find((one) => one.bundle === bundle)
      const by = known?.by ?? (await findObject(reader, BUNDLES, { name: bundle, namespace }))?.status?.release
      if (by === undefined || by === spec.release) return undefined
      const newest = known ? undefined : await findObject(reader, RELEASES, { name: by, namespace })
      const isNewer = newest?.spec.bundles.some((one) => one.name === bundle && one.generation > generation)
      if (!known && !isNewer) return undefined
      taken.push({ bundle, by })
    }
  } catch (caught) {
    // Who may approve need not be allowed to read what moves: then only what is on the rollout is known.
    if (!isApiError(caught, 'Forbidden')) throw caught
    return undefined
  }
  return taken.length > 0 ? taken : undefined
}
